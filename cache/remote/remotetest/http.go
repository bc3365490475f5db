package remotetest

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// HTTP is a server of files, as Bazel's HTTP cache asks for: it stores what is PUT and verifies nothing. Its methods may be
// called concurrently.
type HTTP struct {
	URL string

	mu     sync.Mutex
	files  map[string][]byte
	heard  []byte
	status int
	most   int  // see Most
	cut    *int // see Cut
}

// StartHTTP runs one until the test ends.
func StartHTTP(t testing.TB) *HTTP {
	h, stop := NewHTTP()
	t.Cleanup(stop)
	return h
}

// NewHTTP runs one until stop is called.
func NewHTTP() (h *HTTP, stop func()) {
	h = &HTTP{files: map[string][]byte{}}
	s := httptest.NewServer(h)
	h.URL = s.URL
	return h, s.Close
}

// StartHTTPS is StartHTTP for a server that speaks TLS.
func StartHTTPS(t testing.TB, c *tls.Config) *HTTP {
	h := &HTTP{files: map[string][]byte{}}
	s := httptest.NewUnstartedServer(h)
	s.TLS = c
	s.StartTLS()
	t.Cleanup(s.Close)
	h.URL = s.URL
	return h
}

// Answer makes it answer everything with a status; 0 makes it good again.
func (h *HTTP) Answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

// Most makes it refuse uploads of more than so many bytes, as servers of files do; 0 takes it back.
func (h *HTTP) Most(bytes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.most = bytes
}

// Cut makes it break the connection after so many bytes of every blob that is read; before the answer begins where that is none.
func (h *HTTP) Cut(after int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut = &after
}

// Heard returns everything that was sent to it.
func (h *HTTP) Heard() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.heard)
}

// Forget drops the blobs that which names; results stay.
func (h *HTTP) Forget(which func([]byte) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, b := range h.files {
		if strings.Contains(name, "/cas/") && which(b) {
			delete(h.files, name)
		}
	}
}

// Corrupt changes a byte of the blobs that which names.
func (h *HTTP) Corrupt(which func([]byte) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, b := range h.files {
		if strings.Contains(name, "/cas/") && which(b) {
			h.files[name] = spoil(b)
		}
	}
}

// ServeHTTP implements http.Handler.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard = append(append(h.heard, r.Method+" "+r.URL.Path+"\n"...), body...)
	for name, values := range r.Header {
		h.heard = append(h.heard, name+": "+strings.Join(values, ", ")+"\n"...)
	}
	if h.status != 0 {
		w.WriteHeader(h.status)
		return
	}
	switch b, ok := h.files[r.URL.Path]; {
	case h.most > 0 && len(body) > h.most:
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case r.Method == http.MethodPut:
		h.files[r.URL.Path] = body
		w.WriteHeader(http.StatusCreated)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		if h.cut != nil && strings.Contains(r.URL.Path, "/cas/") {
			if n := min(*h.cut, len(b)); n > 0 {
				w.Header().Set("Content-Length", strconv.Itoa(len(b)))
				_, _ = w.Write(b[:n])
				_ = http.NewResponseController(w).Flush() // the client may be gone
			}
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(b) // the client may be gone
	}
}
