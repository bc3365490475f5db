package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
	"github.com/ufbuild/ufbuild/lang/late"
)

// CompileSchema reports whether the schema of c can be applied: right by its meta schema, and without a
// reference that leaves the campaign.
func CompileSchema(c *lang.Contract) error {
	_, err := compiled(c)
	return err
}

// schemas remembers compiled schemas by content: a campaign judges hundreds of outputs by a
// handful of schemas, and compiling costs more than validating.
var schemas = struct {
	sync.Mutex
	m map[digest.Digest]compiledSchema
}{m: map[digest.Digest]compiledSchema{}}

type compiledSchema struct {
	schema *jsonschema.Schema
	err    error
}

// maxSchemas bounds the memory of a long-lived process that sees many edits of its schemas.
const maxSchemas = 256

func compiled(of *lang.Contract) (*jsonschema.Schema, error) {
	d := schemaDigest(of)
	schemas.Lock()
	defer schemas.Unlock()
	if c, ok := schemas.m[d]; ok {
		return c.schema, c.err
	}
	if len(schemas.m) >= maxSchemas {
		clear(schemas.m)
	}
	s, err := compile(of)
	schemas.m[d] = compiledSchema{s, err}
	return s, err
}

// schemaDigest names the schema of a contract with all its parts.
func schemaDigest(c *lang.Contract) digest.Digest {
	if len(c.SchemaParts) == 0 {
		return digest.Of(c.SchemaDoc)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q %s\n", c.Schema, digest.Of(c.SchemaDoc))
	for _, name := range slices.Sorted(maps.Keys(c.SchemaParts)) {
		fmt.Fprintf(&b, "%q %s\n", name, digest.Of(c.SchemaParts[name]))
	}
	return digest.Of(b.Bytes())
}

// schemaBase is the base of references inside a schema: the root of the campaign.
const schemaBase = "schema://campaign/"

func compile(of *lang.Contract) (s *jsonschema.Schema, err error) {
	doc := of.SchemaDoc
	v, bad := parseJSON(doc)
	if bad != nil {
		line, col := position(doc, bad.offset)
		return nil, fmt.Errorf("line %d, column %d: %s", line, col, bad.what)
	}
	defer func() { // the compiler is not ours; a schema must not stop a build
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("compile schema: %v", p)
		}
	}()
	late.Up()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(partLoader(of.SchemaParts))
	address := schemaBase + (&url.URL{Path: path.Clean("/" + of.Schema)[1:]}).EscapedPath()
	if err := c.AddResource(address, v); err != nil {
		return nil, err
	}
	return c.Compile(address)
}

// partLoader knows the parts of a schema and refuses every reference to something else: what it says
// would be in no verdict key.
type partLoader map[string][]byte

// Load implements jsonschema.URLLoader.
func (l partLoader) Load(address string) (any, error) {
	rest, below := strings.CutPrefix(address, schemaBase)
	name, err := url.PathUnescape(rest)
	doc, ok := l[name]
	if !ok || !below || err != nil {
		return nil, fmt.Errorf("$ref %s leaves the schema: not allowed", address)
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(doc))
}

// schemaRules validates a document by the contract's schema.
func (j *judging) schemaRules(doc *document, c *lang.Contract, r *report) {
	if len(c.SchemaDoc) == 0 {
		return
	}
	s, err := compiled(c)
	if err != nil {
		j.undecide(r, "schema %s cannot be used: %v", c.Schema, err) // the fault of the campaign, not of the bytes
		return
	}
	if doc.lines == nil && c.Kind == "json" {
		validateValue(s, doc.value, "", r)
		return
	}
	for i, n := range doc.lines {
		validateValue(s, doc.value.([]any)[i], fmt.Sprintf("line %d: ", n), r)
	}
}

func validateValue(s *jsonschema.Schema, v any, prefix string, r *report) {
	defer func() { // the validator is not ours; no bytes may stop a build
		if p := recover(); p != nil {
			r.add("%sthe schema cannot be applied: %v", prefix, p)
		}
	}()
	err := s.Validate(v)
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return
	}
	for _, line := range explain(ve) {
		r.add("%s%s", prefix, line)
	}
}

// explain returns every leaf of e as "pointer: got …, want …", ordered by place.
func explain(e *jsonschema.ValidationError) []string {
	faults := leaves(e)
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = pointerOrRoot(pointer(f.at)) + ": " + f.what
	}
	return slices.Compact(lines)
}

type located struct {
	at   []string
	what string
}

// leaves lists what is wrong, ordered by place and words: the library walks maps in any order, and a verdict is
// the same each time. The branches of anyOf and oneOf are alternatives, not faults, so they become one message.
func leaves(e *jsonschema.ValidationError) []located {
	out := gather(e, nil)
	slices.SortFunc(out, func(a, b located) int { return cmp.Or(compareLocation(a.at, b.at), cmp.Compare(a.what, b.what)) })
	return out
}

func gather(e *jsonschema.ValidationError, out []located) []located {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return append(out, located{e.InstanceLocation, alternatives(e)})
	}
	if len(e.Causes) == 0 {
		return append(out, located{e.InstanceLocation, wording(e.ErrorKind)})
	}
	for _, c := range e.Causes {
		out = gather(c, out)
	}
	return out
}

// alternatives says why no branch of an anyOf or oneOf fits.
func alternatives(e *jsonschema.ValidationError) string {
	if k, ok := e.ErrorKind.(*kind.OneOf); ok && len(k.Subschemas) > 1 {
		return fmt.Sprintf("fits forms %d and %d of oneOf, want exactly one", k.Subschemas[0]+1, k.Subschemas[1]+1)
	}
	var whys []string
	for i, c := range e.Causes {
		if i == 4 { // enough to see the pattern in one line
			break
		}
		if faults := leaves(c); len(faults) > 0 {
			whys = append(whys, fmt.Sprintf("form %d: %s %s", i+1, pointerOrRoot(pointer(faults[0].at)), faults[0].what))
		}
	}
	return fmt.Sprintf("fits none of %d allowed forms (%s)", len(e.Causes), strings.Join(whys, "; "))
}

var english = message.NewPrinter(language.English)

// wording puts the frequent faults in the words got and want; the rest is the library's text.
func wording(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Enum:
		return fmt.Sprintf("got %s, want one of %s", brief(k.Got), briefList(k.Want))
	case *kind.Const:
		return fmt.Sprintf("got %s, want %s", brief(k.Got), brief(k.Want))
	case *kind.Required:
		return "missing " + nounList("property", "properties", k.Missing)
	case *kind.AdditionalProperties:
		return "unexpected " + nounList("property", "properties", k.Properties)
	case *kind.Pattern:
		return fmt.Sprintf("got %s, want a match of %s", brief(k.Got), k.Want)
	case *kind.FalseSchema:
		return "is not allowed here"
	}
	return k.LocalizedString(english)
}

func nounList(one, many string, names []string) string {
	sorted := slices.Sorted(slices.Values(names))
	for i := range sorted {
		sorted[i] = brief(sorted[i])
	}
	if len(sorted) == 1 {
		return one + " " + sorted[0]
	}
	return many + " " + strings.Join(sorted, ", ")
}

func briefList(vs []any) string {
	parts := make([]string, len(vs))
	for i := range vs {
		parts[i] = brief(vs[i])
	}
	return strings.Join(parts, ", ")
}

// maxBrief is how much of a value a message shows.
const maxBrief = 80

// brief shows a value as JSON, cut to a length that fits a line.
func brief(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf("%T", v)
	}
	runes := []rune(strings.TrimSpace(buf.String()))
	if len(runes) > maxBrief {
		return string(runes[:maxBrief]) + "…"
	}
	return string(runes)
}

func pointer(tokens []string) string {
	var sb strings.Builder
	for _, t := range tokens {
		sb.WriteByte('/')
		sb.WriteString(escapePointer(t))
	}
	return sb.String()
}

// compareLocation orders instance locations, array indexes by number.
func compareLocation(a, b []string) int {
	return slices.CompareFunc(a, b, func(x, y string) int {
		if digits(x) && digits(y) {
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
		}
		return cmp.Compare(x, y)
	})
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
