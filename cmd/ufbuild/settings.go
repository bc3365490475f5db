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
	for _, name := range presettable {
		f := cmd.Flags().Lookup(name)
		if f == nil || f.Changed {
			continue
		}
		value, origin := settings[name], "config.hcl"
		env := envName(name)
		if v, ok := a.lookupenv(env); ok && v != "" {
			value, origin = v, env
		}
		if value == "" {
			continue
		}
		if err := cmd.Flags().Set(name, value); err != nil {
			return usageErrorf("%s: %w", origin, err)
		}
	}
	return nil
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
