package web

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"sync"
)

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's one script, in their order.
var scripts = []string{"base.js", "data.js", "table.js", "graph.js", "timeline.js", "views.js", "detail.js", "live.js", "main.js"}

// style and script are what is in every page. Each has its digest in the policy. They are put together for the first page: most
// invocations show none.
var (
	style  = sync.OnceValue(func() string { return asset("style.css") })
	script = sync.OnceValue(joined)
)

func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("BUG: asset is missing: " + err.Error())
	}
	return string(b)
}

func joined() string {
	var b strings.Builder
	b.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range scripts {
		b.WriteString(asset(name))
	}
	b.WriteString("})();\n")
	return b.String()
}

// policy is the content security policy of the page: its own style and script and nothing else. connect
// says what it may ask.
func policy(connect string) string {
	return fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; img-src data: blob:; connect-src %s; base-uri 'none'; form-action 'none'",
		sum(script()), sum(style()), connect)
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(h[:])
}

// NamedText is a text under the name by which the page looks for it, see [TextName].
type NamedText struct {
	Name string
	Text Text
}

// TextName names what an attempt has, as in Attempt.Has.
func TextName(address string, n int, what string) string {
	return fmt.Sprintf("%s@%d/%s", address, n, what)
}

// Write writes the page as one file. texts is called once and yields what the file carries beside the
// document.
func Write(w io.Writer, doc *Document, texts func(yield func(NamedText) bool)) error {
	b := bufio.NewWriter(w)
	head(b, doc.Campaign, "'none'")
	if err := data(b, `id="document"`, doc); err != nil {
		return err
	}
	var err error
	texts(func(t NamedText) bool {
		err = data(b, `data-text="`+html.EscapeString(t.Name)+`"`, t.Text)
		return err == nil
	})
	if err != nil {
		return err
	}
	tail(b)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// NoTexts is for a page that carries none.
func NoTexts(func(NamedText) bool) {}

func head(w io.Writer, title, connect string) {
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"+
		"<title>%s · ufbuild</title>\n<style>%s</style>\n</head>\n<body>\n%s",
		html.EscapeString(policy(connect)), html.EscapeString(title), style(), asset("page.html"))
}

// data writes a value where the script finds it. The encoder spells < as \u003c, so no text can end the
// element early.
func data(w io.Writer, attribute string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: page data does not encode: " + err.Error())
	}
	if _, err := fmt.Fprintf(w, "<script type=\"application/json\" %s>%s</script>\n", attribute, b); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

func tail(w io.Writer) { fmt.Fprintf(w, "<script>%s</script>\n</body>\n</html>\n", script()) }
