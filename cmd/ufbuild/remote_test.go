package main

import (
	"bytes"
	"os"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// scriptRemotes are the servers of running scripts, by script and name.
var scriptRemotes sync.Map

// sharedServer is a server that a script started.
type sharedServer struct {
	grpc *remotetest.Server // nil for one of files
	http *remotetest.HTTP
}

func (s sharedServer) heard() []byte {
	if s.http != nil {
		return s.http.Heard()
	}
	return s.grpc.Heard()
}

// faultWords are what a script can do to a server. "good" takes it back.
var faultWords = map[string]remotetest.Faults{
	"good": {}, "full": {Full: true}, "wrong": {WrongBytes: true}, "lose": {Lose: true}, "version": {Version: 9}, "hang": {Hang: true},
}

// remoteServer is the command "remote" of scripts:
//
//	remote start NAME [sha256|http]   starts a server and puts its address into the variable NAME
//	remote start NAME tls             the same for one that asks for a certificate and for the header x-api-key: s3cret; the
//	                                  directory NAME_CERTS has ca.pem, and ann.pem with ann.key
//	remote is NAME WORD               makes it good, full, wrong, lose, version, hang, killed or restarted
//	[!] remote heard NAME TEXT        wants that TEXT was sent to it
func remoteServer(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg && args[0] != "heard" {
		ts.Fatalf("usage: remote start|is|heard NAME …")
	}
	id := ts.Getenv("WORK") + " " + args[1]
	if args[0] == "start" {
		startRemote(ts, id, args[1], append(args[2:], "")[0])
		return
	}
	v, ok := scriptRemotes.Load(id)
	if !ok || len(args) != 3 {
		ts.Fatalf("remote %s: no such server, or a word too few", args[1])
	}
	s := v.(sharedServer)
	switch args[0] {
	case "heard":
		if bytes.Contains(s.heard(), []byte(args[2])) == neg {
			ts.Fatalf("remote %s heard %q: %t", args[1], args[2], neg)
		}
	case "is":
		beRemote(ts, s.grpc, args[2])
	}
}

func startRemote(ts *testscript.TestScript, id, name, kind string) {
	var s sharedServer
	if kind == "http" {
		h, stop := remotetest.NewHTTP()
		ts.Defer(stop)
		s.http = h
		ts.Setenv(name, h.URL+"/cache")
	} else {
		o := remotetest.Options{SHA256: kind == "sha256", Zstd: kind != "sha256"}
		if kind == "tls" {
			dir := ts.MkAbs(name + "-certs")
			ts.Check(os.Mkdir(dir, 0o700))
			a := remotetest.NewAuthority(dir)
			cert, key := a.Issue("server", "127.0.0.1")
			a.Issue("ann")
			o.TLS, o.Key = remotetest.Serving(cert, key, a), "s3cret"
			ts.Setenv(name+"_CERTS", dir)
		}
		s.grpc = remotetest.New(o)
		ts.Defer(s.grpc.Kill)
		ts.Setenv(name, s.grpc.URL())
	}
	scriptRemotes.Store(id, s)
	ts.Defer(func() { scriptRemotes.Delete(id) })
}

func beRemote(ts *testscript.TestScript, s *remotetest.Server, word string) {
	f, ok := faultWords[word]
	switch {
	case word == "killed":
		s.Kill()
	case word == "restarted":
		s.Restart()
	case ok:
		s.Misbehave(f)
	default:
		ts.Fatalf("remote: there is no word %q", strings.TrimSpace(word))
	}
}
