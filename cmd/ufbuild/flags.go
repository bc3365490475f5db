package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// flagDecl is a declared flag.
type flagDecl = pflag.Flag

// varFlag is one --var or --var-file.
type varFlag struct {
	text string
	file bool
}

// varsValue gathers both flags in one list, since a later one wins over an earlier one.
type varsValue struct {
	list *[]varFlag
	file bool
}

// String implements pflag.Value.
func (v *varsValue) String() string { return "" }

// Type implements pflag.Value.
func (v *varsValue) Type() string { return "string" }

// Set implements pflag.Value.
func (v *varsValue) Set(text string) error {
	if !v.file && !strings.Contains(text, "=") {
		return fmt.Errorf("write it as NAME=VALUE")
	}
	*v.list = append(*v.list, varFlag{text, v.file})
	return nil
}

// oneOf returns a usage error when the value of a flag is none of those allowed.
func oneOf(flag, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return usageErrorf("--%s %q: use one of %s", flag, value, strings.Join(allowed, ", "))
}
