package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/lang"
)

// presettable are the flags whose value may come from UFBUILD_NAME or from the user's config.hcl:
// habits of a person or a machine. What decides about one invocation (--yes, --why, targets,
// variables) is only ever typed.
var presettable = []string{
	"fail-fast", "grace", "jobs", "keep-going", "keep-workspaces", "logs", "preset", "progress",
	"remote", "remote-ca", "remote-cert", "remote-header", "remote-key", "remote-mode", "remote-sign", "remote-trust",
	"require-complete", "store", "wait",
}

// presetFlags gives flags that were not typed their value: environment first, then the user's config
// file, then the default they have already.
func (a *app) presetFlags(cmd *cobra.Command) error {
	settings, err := a.readSettings()
	if err != nil {
		return err
	}
	presets := map[string]preset{}
	for _, name := range presettable {
		presets[name] = a.presetOf(cmd, settings, name)
	}
	if err := contradiction(presets["fail-fast"], presets["keep-going"]); err != nil {
		return err
	}
	for _, name := range presettable {
		p := presets[name]
		if p.rank == typed || p.value == "" || p.rank < presets[opposite[name]].rank {
			continue
		}
		if err := cmd.Flags().Set(name, p.value); err != nil {
			return usageErrorf("%s: %w", p.origin, err)
		}
	}
	return nil
}

// opposite are the flags that say one thing: the stronger source decides.
var opposite = map[string]string{"fail-fast": "keep-going", "keep-going": "fail-fast"}

// contradiction refuses a word and its opposite from one source.
func contradiction(fail, keep preset) error {
	if fail.rank != keep.rank {
		return nil
	}
	if fail.rank == typed {
		return usageErrorf("--fail-fast and --keep-going are opposites: give one of them")
	}
	one, errOne := strconv.ParseBool(fail.value)
	other, errOther := strconv.ParseBool(keep.value)
	if errOne == nil && errOther == nil && one == other {
		return usageErrorf("%s: fail-fast and keep-going are opposites: set one of them", keep.origin)
	}
	return nil
}

// preset is what a flag gets that was not typed.
type preset struct {
	value, origin string
	rank          int // of the source: 0 for none
}

const (
	settled = 1 + iota // in config.hcl
	exported
	typed
)

// presetOf finds the strongest source of a flag.
func (a *app) presetOf(cmd *cobra.Command, settings map[string]string, name string) preset {
	f := cmd.Flags().Lookup(name)
	if f == nil {
		return preset{}
	}
	if f.Changed {
		return preset{rank: typed}
	}
	env := envName(name)
	if v, ok := a.lookupenv(env); ok && v != "" {
		return preset{v, env, exported}
	}
	if v := settings[name]; v != "" {
		return preset{v, "config.hcl", settled}
	}
	return preset{}
}

// envName is the variable of a flag: UFBUILD_FAIL_FAST for --fail-fast.
func envName(flag string) string {
	return "UFBUILD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configFile is where a person's settings are; "" when there is no home.
func (a *app) configFile() string {
	if dir := a.getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, programName, "config.hcl")
	}
	if home := a.getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", programName, "config.hcl")
	}
	return ""
}

// readSettings reads config.hcl: lines of NAME = value, named like the flags with _ or -.
func (a *app) readSettings() (map[string]string, error) {
	file := a.configFile()
	src, err := os.ReadFile(file)
	switch {
	case file == "", errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read settings: %w", err)
	}
	lines, ds := lang.ParseVarFile(file, src)
	if ds.HasErrors() {
		o := lang.TextOptions{Color: a.errTerm.Color, Width: a.errTerm.Width}
		if err := lang.WriteText(a.err, ds, func(string) ([]byte, bool) { return src, true }, o); err != nil {
			return nil, fmt.Errorf("write diagnostics: %w", err)
		}
		return nil, exit(exitUsage)
	}
	settings := map[string]string{}
	for _, l := range lines {
		name := strings.ReplaceAll(l.Name, "_", "-")
		if !slices.Contains(presettable, name) {
			return nil, unknownSetting(l)
		}
		settings[name] = l.Value
		if text, err := strconv.Unquote(l.Value); err == nil {
			settings[name] = text
		}
	}
	return settings, nil
}

func unknownSetting(l lang.VarInput) error {
	if meant := lang.Suggest(strings.ReplaceAll(l.Name, "_", "-"), presettable); meant != "" {
		return usageErrorf("%s: there is no setting %q; did you mean %q?", l.Origin, l.Name, meant)
	}
	return usageErrorf("%s: there is no setting %q\nhint: there are %s", l.Origin, l.Name, strings.Join(presettable, ", "))
}
