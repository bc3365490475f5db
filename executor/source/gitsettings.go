package source

import (
	"os/exec"
	"path"
	"strings"
)

// settings observes the files that git takes its settings from, whether they are there or not, and those that they name.
// It is false when one is named in a way that is not known here. top leads to the top of the working tree.
func (w *gitState) settings(git told, top string) bool {
	home, config := homes()
	if home == "" {
		return false
	}
	w.see(path.Join(home, ".gitconfig"))
	for _, name := range []string{"config", "ignore", "attributes"} {
		w.see(path.Join(config, "git", name))
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return false
	}
	w.see(program)
	for _, prefix := range []string{"/", path.Dir(path.Dir(strings.TrimSpace(git.programs)))} { // the second is that git was built for
		w.see(path.Join(prefix, "etc/gitconfig"), path.Join(prefix, "etc/gitattributes"))
	}
	said := git.settings
	if len(said)%2 != 0 {
		return false
	}
	for ; len(said) > 0; said = said[2:] { // origin; key and value
		if said[0] == "command line:" {
			continue // what gitOutput says: whoever started this program speaks by the environment, which git is not given
		}
		file, ok := strings.CutPrefix(said[0], "file:")
		if !ok {
			return false
		}
		if !path.IsAbs(file) {
			file = path.Join(top, file)
		}
		w.see(file)
		key, value, _ := strings.Cut(said[1], "\n")
		base := top
		switch {
		case value == "":
			continue
		case key == "include.path", strings.HasPrefix(key, "includeif.") && strings.HasSuffix(key, ".path"):
			base = path.Dir(file)
		case key != "core.excludesfile" && key != "core.attributesfile":
			continue
		}
		if !w.named(value, base, home) {
			return false
		}
	}
	return true
}

// named observes a file by the name that a setting has for it.
func (w *gitState) named(value, base, home string) bool {
	rest, inHome := strings.CutPrefix(value, "~/")
	switch {
	case inHome:
		value = path.Join(home, rest)
	case strings.HasPrefix(value, "~"), strings.HasPrefix(value, "%("), strings.HasPrefix(value, ":("):
		return false // somebody else's home, and what is relative to git itself or may be missing
	case !path.IsAbs(value):
		value = path.Join(base, value)
	}
	w.see(value)
	return true
}

// homes are the directories in which git looks for what a user has set; "" when that is not known.
func homes() (home, config string) {
	for _, v := range (&exec.Cmd{}).Environ() {
		key, value, _ := strings.Cut(v, "=")
		switch {
		case value == "":
		case key == "HOME":
			home = value
		case key == "XDG_CONFIG_HOME":
			config = value
		}
	}
	if config == "" {
		config = path.Join(home, ".config")
	}
	if !path.IsAbs(home) || !path.IsAbs(config) {
		return "", ""
	}
	return home, config
}
