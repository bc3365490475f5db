package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// portal is what a network says that wants a login, or a proxy that is lost.
const portal = "<!doctype html><html><head><title>Sign in</title></head><body>Please sign in to go on.</body></html>"

// attack answers a request in place of the server; it returns false where the server may answer.
type attack func(good http.Handler, w http.ResponseWriter, r *http.Request) bool

// always answers everything.
func always(do http.HandlerFunc) attack {
	return func(_ http.Handler, w http.ResponseWriter, r *http.Request) bool {
		do(w, r)
		return true
	}
}

// onGet answers what is read, with what the server would have said.
func onGet(do func(w http.ResponseWriter, r *http.Request, body []byte)) attack {
	return func(good http.Handler, w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		rec := httptest.NewRecorder()
		good.ServeHTTP(rec, r)
		if rec.Code != http.StatusOK {
			return false
		}
		do(w, r, rec.Body.Bytes())
		return true
	}
}

// cut sends less than it announced.
func cut(w http.ResponseWriter, _ *http.Request, body []byte) {
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	_, _ = w.Write(body[:len(body)/2])
}

// drip sends a byte now and then, and never ends.
func drip(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", fmt.Sprint(len(body)+1))
	for i := range body {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
		_, _ = w.Write(body[i : i+1])
		w.(http.Flusher).Flush()
	}
	<-r.Context().Done()
}

// TestHTTPCacheUnderAttack: whatever a server of files answers, a build ends right and soon, warns at most once, and says what is wrong;
// nothing that was not stored counts as stored.
func TestHTTPCacheUnderAttack(t *testing.T) {
	was := remoteTimeout
	t.Cleanup(func() { remoteTimeout = was })
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("it went elsewhere: %s %s with %q", r.Method, r.URL, r.Header.Get("x-api-key"))
	}))
	t.Cleanup(elsewhere.Close)
	const slow = "no answer in time"
	status := func(code int) attack {
		return always(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, portal, code) })
	}
	for name, test := range map[string]struct {
		attack attack
		says   string // of the one that reads; "" where a server may behave so
		takes  bool   // what is there
	}{
		"nothing at all":        {nil, "", true},
		"a page that is no 404": {always(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, portal) }), "cannot be believed", false},
		"who are you":           {status(401), "401 Unauthorized; going on without it; hint", false},
		"you may not":           {status(403), "403 Forbidden", false},
		"too many":              {status(429), "429 Too Many Requests", false},
		"it is broken":          {status(500), "500 Internal Server Error", false},
		"it is overloaded":      {status(503), "503 Service Unavailable", false},
		"elsewhere":             {always(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }), "another host", false},
		"elsewhere, for uploads": {always(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}), "another host", false},
		"an upload becomes a download": {func(_ http.Handler, w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				http.Redirect(w, r, "/", http.StatusFound)
			} else if r.URL.Path == "/" {
				fmt.Fprint(w, portal)
			} else {
				http.NotFound(w, r)
			}
			return true
		}, "an upload to another place", false},
		"in circles":   {always(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }), "in circles", false},
		"cut":          {onGet(cut), "unexpected EOF", false},
		"drop by drop": {onGet(drip), slow, false},
		"a byte more":  {onGet(func(w http.ResponseWriter, _ *http.Request, b []byte) { _, _ = w.Write(append(b, 'x')) }), "cannot be believed", false},
		"a byte less":  {onGet(func(w http.ResponseWriter, _ *http.Request, b []byte) { _, _ = w.Write(b[:len(b)-1]) }), "cannot be believed", false},
		"without end": {onGet(func(w http.ResponseWriter, r *http.Request, b []byte) {
			for r.Context().Err() == nil {
				if _, err := w.Write(b); err != nil {
					return
				}
			}
		}), "", false},
		"no body":     {onGet(func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusNoContent) }), "", false},
		"it hangs up": {always(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), "EOF", false},
		"headers without end": {always(func(w http.ResponseWriter, _ *http.Request) {
			for i := range 200_000 {
				w.Header().Set(fmt.Sprintf("x-%d", i), portal)
			}
		}), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			files := remotetest.StartHTTP(t)
			remoteTimeout = 300 * time.Millisecond
			if test.takes || test.says != "" && test.says != slow { // it has to be heard out, however busy the machine is
				remoteTimeout = 5 * endless // what waits that long does not end soon
			}
			var now attack
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if now == nil || !now(files, w, r) {
					files.ServeHTTP(w, r)
				}
			}))
			t.Cleanup(s.Close)
			campaign := map[string]string{"campaign.hcl": chaosCampaign, "v1": "1", "v2": "2"}
			build := func(h *home) string {
				begun := time.Now()
				said := h.must("build", "--remote", s.URL+"/cache", "--remote-header", "x-api-key=s3cret")
				require.False(t, remoteTimeout > endless && time.Since(begun) > remoteTimeout, "it waits for what does not come: %s", said)
				require.LessOrEqual(t, strings.Count(said, "warning:"), 1, said)
				b, err := os.ReadFile(filepath.Join(h.dir, "out", "b", "o"))
				require.NoError(t, err, said)
				require.Equal(t, "b2\n", string(b), said)
				return said
			}
			build(newHome(t, campaign))
			now = test.attack
			second := newHome(t, campaign)
			said := build(second)
			require.Contains(t, said, test.says)
			require.Equal(t, test.takes, len(second.traced()) == 0, said)
			if test.takes {
				return
			}
			build(newHome(t, campaign)) // writes, too
			now = nil
			files.Forget(func([]byte) bool { return true })
			build(second) // sends what it could not
			third := newHome(t, campaign)
			build(third)
		})
	}
}
