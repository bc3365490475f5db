package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
)

func (a *app) uiCommand() *cobra.Command {
	var f buildFlags
	var port int
	var open bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Serve a page that follows the campaign, and lets you decide",
		Long: `Serves the page of "ufbuild report" on this machine and keeps it up to date: builds
as they run, logs as they grow, any two attempts compared. From it you can build and
retry (after the list and its price), pause, resume and cancel what runs, undo, accept,
select, pin, and approve or deny, by the functions of these verbs. It prints a link with
a token; without it the server tells nothing. Nobody but programs of this machine can reach it.

The flags of build count for the builds that are started from the page.`,
		Example: `  ufbuild ui
  ufbuild ui --open
  ufbuild ui --port 8123 -j 4`,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if port < 0 || port > 65535 {
				return usageErrorf("--port %d: a port is between 1 and 65535; 0 takes a free one", port)
			}
			return a.runUI(f, port, open)
		},
	}
	f.bind(cmd)
	cmd.Flags().IntVar(&port, "port", 0, "listen on port `N` of 127.0.0.1; 0 takes a free one")
	cmd.Flags().BoolVar(&open, "open", false, "open the page in the browser")
	return cmd
}

// lookEvery is how often the page's server looks for changes while somebody watches.
const lookEvery = 500 * time.Millisecond

func (a *app) runUI(f buildFlags, port int, open bool) error {
	p := &pages{app: a, flags: f}
	defer p.close()
	if _, err := p.Document(a.context()); err != nil { // what is wrong with the campaign is said here, not in a browser
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("serve page: %w\nhint: choose another --port, or none", err)
	}
	_, at, _ := net.SplitHostPort(listener.Addr().String())
	server := &web.Server{
		Token: newToken(), Hosts: []string{"127.0.0.1:" + at, "localhost:" + at}, Title: p.campaign(),
		Source: p, Reader: p, Decider: p, Status: httpStatus, Every: lookEvery, After: time.After,
	}
	link := "http://127.0.0.1:" + at + "/#token=" + server.Token
	if a.json {
		err = a.printLine(map[string]any{"schema_version": 1, "kind": "serving", "url": link})
	} else {
		_, err = fmt.Fprintf(a.out, "%s\n", link)
	}
	if err != nil {
		return fmt.Errorf("write link: %w", errors.Join(err, listener.Close()))
	}
	if !a.json && a.errTerm.IsTTY {
		fmt.Fprintln(a.err, "open the link in a browser; Ctrl-C ends the server")
	}
	if open {
		a.warn(a.openBrowser(link))
	}
	return a.serve(listener, server.Handler(), p)
}

// headTimeout bounds how long a connection may take to say what it wants.
const headTimeout = 10 * time.Second

// serve answers until a signal comes, and waits for a build that was started from the page: the signal
// stops it as it stops any other.
func (a *app) serve(listener net.Listener, h http.Handler, p *pages) error {
	ctx := a.context()
	server := &http.Server{Handler: h, ReadHeaderTimeout: headTimeout, BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve page: %w", err)
	case <-ctx.Done():
	}
	err := server.Close()
	p.builds.Wait()
	if err != nil {
		return fmt.Errorf("serve page: %w", err)
	}
	return exit(a.signalCode())
}

// newToken makes a token that nobody guesses: 256 random bits.
func newToken() string {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic("BUG: read random bytes: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// openBrowser hands the link to the desktop. The token is in the arguments of that program for a moment,
// where other users of this machine may see it; so this is a flag.
func (a *app) openBrowser(link string) error {
	program, err := exec.LookPath("xdg-open")
	if err != nil {
		return fmt.Errorf("open the page: there is no xdg-open here; open the link yourself")
	}
	cmd := exec.CommandContext(a.context(), program, link)
	cmd.Stdout, cmd.Stderr, cmd.Env = io.Discard, io.Discard, a.environ
	if err := effect.Do(effect.OpStart, program, cmd.Start); err != nil {
		return fmt.Errorf("open the page: %w", err)
	}
	go func() { _ = cmd.Wait() }() // its end says nothing of the page
	return nil
}

// httpStatus is the status of an error of a verb.
func httpStatus(err error) int {
	var coded *exitError
	if !errors.As(err, &coded) {
		return http.StatusInternalServerError
	}
	switch coded.code {
	case exitLocked:
		return http.StatusConflict
	case exitUsage:
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}
