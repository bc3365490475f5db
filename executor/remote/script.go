package remote

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// Names in the root of an action.
const (
	inDir     = "in"    // the workspace as it is sent; read-only for all we know
	wsDir     = "ws"    // where the program runs: a copy, and the output
	runFile   = "run"   // the script
	stdinFile = "stdin" // what the program reads
	endedFile = "ended" // output: what the script notes
	indexFile = "index" // output: what a server would not keep of links, pipes and modes
)

// script writes what runs an attempt on whatever machine was chosen. Served is for exec-action, which holds limits and notes
// the end by itself; else the script does.
func script(inv *executor.Invocation, id string, own map[string]string, served bool) []byte {
	var b strings.Builder
	b.WriteString(scriptHead)
	q := quoter(inv.Dir)
	names := []string{}
	for _, v := range localNames(inv, own) {
		fmt.Fprintf(&b, "export %s=%s\n", v.name, q(v.value))
		names = append(names, v.name)
	}
	if !served {
		fmt.Fprintf(&b, "note attempt %s\nnote ran \"$(uname -n) $(cat /proc/sys/kernel/random/uuid)\"\n", q(id))
	}
	required := []string{}
	for _, v := range inv.Env {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
		if slices.Contains(inv.ByName, name) {
			required = append(required, name)
		}
	}
	fmt.Fprintf(&b, "for name in %s; do\n  eval \"[ -n \\\"\\${$name+x}\\\" ]\" || refuse \"variable $name is not set on this machine; secrets and passed variables are not sent\"\ndone\n", strings.Join(required, " "))
	names = append(names, "HOME", "LANG", "PATH", "TMPDIR")
	fmt.Fprintf(&b, "keep=' %s '\n", strings.Join(names, " "))
	argv := make([]string, len(inv.Argv))
	for i, a := range inv.Argv {
		argv[i] = q(a)
	}
	fmt.Fprintf(&b, "set -- %s\n", strings.Join(argv, " "))
	b.WriteString(scriptFind)
	if served {
		b.WriteString("exec \"$@\" <\"$root/stdin\"\n")
		return []byte(b.String())
	}
	limit := inv.Timeout.Seconds()
	fmt.Fprintf(&b, "limit=%s grace=%s centis=%d\n", decimal(limit), decimal(max(inv.Grace.Seconds(), 0.01)), int64(limit*100))
	fmt.Fprintf(&b, "idle=%d step=%s late=%s\n", int64(inv.IdleTimeout.Seconds()*100), decimal(idleStep(inv.IdleTimeout).Seconds()), decimal(inv.Grace.Seconds()+1))
	b.WriteString(scriptTail)
	return []byte(b.String())
}

// idleStep is how often the script looks whether the program has printed.
func idleStep(idle time.Duration) time.Duration {
	return min(max(idle/5, 50*time.Millisecond), time.Second)
}

// scriptHead begins every script. The input is copied, since a worker may lend files that it shares with others.
const scriptHead = `#!/bin/sh
# Written by ufbuild: runs one attempt of a task on whatever machine was chosen.
root=$PWD ws=$PWD/ws
exec 2>&1
note() { printf '%s %s\n' "$1" "$2" >>"$root/ended"; }
refuse() { echo "ufbuild: $1"; note problem "$1"; : >"$root/index"; mkdir -p "$ws"; exit ${2:-126}; }
mkdir -p tmp || exit 126
cp -RP in ws && find ws -type d -exec chmod 755 {} + && find ws -type f -perm -100 -exec chmod 755 {} + &&
  find ws -type f ! -perm -100 -exec chmod 644 {} + || refuse "the workspace could not be laid out"
[ -n "${PATH+x}" ] || PATH=/usr/local/bin:/usr/bin:/bin
[ -n "${HOME+x}" ] || { mkdir -p home; export HOME="$root/home"; }
export TMPDIR="$root/tmp"
`

// scriptFind looks for the program as a shell's own words and functions do not count, and takes away every variable that the
// machine added.
const scriptFind = `find_program() {
  case $1 in
  */*) [ -f "$1" ] || return 127; [ -x "$1" ] || return 126; return 0 ;;
  esac
  found=127 old=$IFS IFS=:
  for dir in $PATH; do
    [ -f "$dir/$1" ] || continue
    found=126
    [ ! -x "$dir/$1" ] || { found=0; break; }
  done
  IFS=$old
  return $found
}
cd "$ws" || refuse "the workspace could not be entered"
[ -n "$1" ] || refuse "the program has no name" 127
find_program "$1" || case $? in
126) refuse "program $1 is not executable" 126 ;;
*) refuse "program \"$1\" was not found on PATH ($PATH)" 127 ;;
esac
for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
  case $keep in *" $name "*) ;; *) unset "$name" ;; esac
done
`

// scriptTail runs the program within its time, and notes what a server does not tell. Where it has to print now and then, that
// goes through a pipe and a file whose growth is watched.
const scriptTail = `now() { read -r up rest </proc/uptime && echo "${up%.*}${up#*.}"; }
run() {
  if timeout --preserve-status -s INT -k 1 1 true 2>/dev/null; then
    exec timeout --preserve-status -s INT -k "$grace" "$limit" "$@"
  fi
  exec "$@"
}
watch() {
  last=-1
  while sleep "$step"; do
    if [ -e "$root/over" ]; then # something else holds the pipe
      sleep 2
      kill "$tee"
      return
    fi
    size=$(stat -c %s "$root/printed") at=$(now)
    if [ "$size" != "$last" ]; then
      last=$size since=$at
    elif [ $((at - since)) -ge "$idle" ]; then
      : >"$root/silent"
      read -r pid <"$root/pid" && kill -INT "$pid" && sleep "$late" && kill -KILL "$pid"
    fi
  done
}
begun=$(now)
if [ "$idle" -gt 0 ]; then
  mkfifo "$root/pipe" && : >"$root/printed" && stat -c %s "$root/printed" >"$root/pid" && tee </dev/null ||
    refuse "idle_timeout needs mkfifo, stat and tee on this machine"
  tee "$root/printed" <"$root/pipe" &
  tee=$!
  watch 2>/dev/null &
  watch=$!
  (sh -c 'echo $PPID' >"$root/pid"; run "$@") <"$root/stdin" >"$root/pipe" 2>&1
  code=$?
  : >"$root/over"
  wait "$tee" 2>/dev/null
  kill "$watch" 2>/dev/null
else
  (run "$@") <"$root/stdin"
  code=$?
fi
took=$(($(now) - begun))
if [ -e "$root/silent" ]; then note stopped idle; elif [ "$took" -ge "$centis" ]; then note stopped timeout; fi
note duration "${took}0ms"
note exit $code
cd "$ws"
: >"$root/index"
find . -path ./.uf/in -prune -o -type l -exec sh -c 'for f; do printf "l\0%s\0%s\0" "$f" "$(readlink "$f")"; rm -f "$f"; done' sh {} + >>"$root/index"
find . -path ./.uf/in -prune -o ! -type l ! -type f ! -type d -exec sh -c 'for f; do printf "p\0%s\0\0" "$f"; rm -f "$f"; done' sh {} + >>"$root/index"
find . -path ./.uf/in -prune -o -type f ! -perm 644 ! -perm 755 -exec sh -c 'for f; do printf "f\0%s\0%s\0" "$f" "$(stat -c %a "$f")"; done' sh {} + >>"$root/index"
chmod -R u+r "$ws"
exit $code
`

// attemptVariable names the attempt that a process belongs to.
const attemptVariable = "UF_ATTEMPT"

type variable struct{ name, value string }

// localNames are the variables that the script sets itself: those that name places, and those of the remote.
func localNames(inv *executor.Invocation, own map[string]string) []variable {
	var out []variable
	for _, v := range inv.Env {
		name, value, _ := strings.Cut(v, "=")
		if strings.Contains(value, inv.Dir) && name != "TMPDIR" && !slices.Contains(inv.ByName, name) {
			out = append(out, variable{name, value})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		out = append(out, variable{name, own[name]})
	}
	return out
}

// sentEnv are the variables that travel in the command: what does not depend on a place, and is no secret. A job of an engine
// has PATH, HOME and LANG of its own.
func sentEnv(inv *executor.Invocation, own map[string]string, served bool) []variable {
	var out []variable
	for _, v := range inv.Env {
		name, value, _ := strings.Cut(v, "=")
		_, set := own[name]
		switch {
		case set, slices.Contains(inv.ByName, name), strings.Contains(value, inv.Dir), name == executor.CampaignVariable, name == "HOME":
		case served && (name == "PATH" || name == "LANG"):
		case name == attemptVariable: // a server may be on this machine, where a build kills what bears the mark of a dead one
			out = append(out, variable{name, "elsewhere:" + value})
		default:
			out = append(out, variable{name, value})
		}
	}
	return out
}

// quoter returns what writes a word for a shell, with places below the attempt's directory as they are over there.
func quoter(dir string) func(string) string {
	ws := filepath.Join(dir, workspace.Dir)
	return func(s string) string {
		s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		s = strings.ReplaceAll(s, ws, `'"$ws"'`)
		return strings.ReplaceAll(s, dir, `'"$root"'`)
	}
}

func decimal(seconds float64) string { return strconv.FormatFloat(seconds, 'f', -1, 64) }
