package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// maxShownSchema is the largest schema that is printed into a prompt, in bytes. A larger one would
// drown the task; its rules still come back as feedback.
const maxShownSchema = 16 << 10

// Describe says in Markdown what an output has to be: where, what for, by which rules, what to
// write when there is nothing to say, and how to check a draft. It is appended to prompts, recorded
// with the attempt and never hashed, so its wording is free to change.
func Describe(o lang.Output) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", o.Name)
	if o.Path != "" {
		item(&b, "Write it to `%s`.", o.Path)
	} else {
		item(&b, "It is the set of files that match %s when you end; a file you delete is deleted.", codeList(o.Tree))
	}
	if o.Description != "" {
		item(&b, "Purpose: %s", o.Description)
	}
	if o.Optional {
		item(&b, "It may be left out.")
	}
	if c := o.Contract; c != nil {
		describeContract(&b, o, c)
	}
	return b.String()
}

func item(b *strings.Builder, format string, args ...any) {
	fmt.Fprintf(b, "- "+format+"\n", args...)
}

func describeContract(b *strings.Builder, o lang.Output, c *lang.Contract) {
	item(b, "Form: %s.", forms[c.Kind])
	describeSizes(b, c)
	describeRules(b, c)
	describeEmpty(b, c)
	if len(c.Validate) > 0 {
		item(b, "It is also checked by the command `%s`.", strings.Join(c.Validate, " "))
	}
	draft := o.Path
	if draft == "" {
		draft = "."
	}
	item(b, "Check your draft with `ufbuild contract check %s %s`.", c.Name, draft)
	if s := shownSchema(c.SchemaDoc); s != "" {
		fmt.Fprintf(b, "- It must be valid under this JSON Schema:\n\n```json\n%s\n```\n", s)
	} else if len(c.SchemaDoc) > 0 {
		item(b, "It must be valid under the JSON Schema `%s`.", c.Schema)
	}
}

// describeEmpty says what to write when there is nothing to say.
func describeEmpty(b *strings.Builder, c *lang.Contract) {
	switch {
	case !c.HasEmpty:
	case c.Empty == "":
		item(b, "When there is nothing to report, leave an empty file.")
	case strings.ContainsAny(c.Empty, "`\n"):
		fmt.Fprintf(b, "- When there is nothing to report, write exactly this:\n\n~~~\n%s\n~~~\n", strings.TrimSuffix(c.Empty, "\n"))
	default:
		item(b, "When there is nothing to report, write exactly `%s`.", c.Empty)
	}
}

// forms puts the kinds of contract into words.
var forms = map[string]string{
	"json":     "one JSON document in UTF-8, bare, without a Markdown fence",
	"jsonl":    "JSON Lines in UTF-8, one JSON value a line",
	"markdown": "Markdown in UTF-8",
	"text":     "plain text in UTF-8",
	"tree":     "a set of files, at least one",
	"binary":   "any bytes",
}

func describeSizes(b *strings.Builder, c *lang.Contract) {
	if c.MinBytes > 0 {
		item(b, "At least %s.", plural(c.MinBytes, "byte"))
	}
	if c.MaxBytes > 0 {
		item(b, "At most %s.", plural(c.MaxBytes, "byte"))
	}
	if c.MinItems > 0 {
		item(b, "At least %s.", plural(c.MinItems, "item"))
	}
}

func describeRules(b *strings.Builder, c *lang.Contract) {
	for _, p := range c.Unique {
		item(b, "No two values at `%s` are equal.", p)
	}
	for _, n := range c.Counts {
		item(b, "There are exactly %s at `%s`.", plural(n.Equals, "value"), n.Path)
	}
	for _, n := range c.Joins {
		item(b, "Every value at `%s` exists at `%s`.", n.Path, n.To)
	}
	for _, n := range c.Preserves {
		item(b, "Every entry of `%s`, matched by %s, is kept with %s unchanged.", n.From, n.Key, codeList(n.Fields))
	}
}

func codeList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "`" + n + "`"
	}
	return strings.Join(quoted, ", ")
}

func shownSchema(doc []byte) string {
	var b bytes.Buffer
	if len(doc) == 0 || json.Indent(&b, bytes.TrimSpace(doc), "", "  ") != nil || b.Len() > maxShownSchema {
		return ""
	}
	return b.String()
}
