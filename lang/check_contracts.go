package lang

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/ufbuild/ufbuild/lang/late"
)

// english words the problems that the schema library finds.
var english = message.NewPrinter(language.English)

// compiledSchema is a JSON Schema of a contract; nil when it is broken.
type compiledSchema struct {
	schema *jsonschema.Schema
	parts  map[string][]byte // other files that it refers to
}

// schemaBase is the address under which schema files are known to the schema library, so that
// relative references between them stay below the campaign root.
const schemaBase = "file:///campaign/"

// schemaURL is the address of a schema file: what means something in an address is escaped.
func schemaURL(name string) string {
	return schemaBase + (&url.URL{Path: path.Clean(name)}).EscapedPath()
}

// schemaFile is the schema file at an address; false for one outside the campaign.
func schemaFile(address string) (string, bool) {
	rest, below := strings.CutPrefix(address, schemaBase)
	name, err := url.PathUnescape(rest)
	return name, below && err == nil && cleanPath(name)
}

// errRemoteSchema is wrapped by the error of a schema that refers to the network.
var errRemoteSchema = errors.New("refers outside the campaign")

// schemaLoader reads the schemas that a schema refers to, and keeps them as parts of it.
type schemaLoader struct {
	src   *sources
	parts map[string][]byte
}

// Load returns the document at an address.
func (s schemaLoader) Load(address string) (any, error) {
	name, ok := schemaFile(address)
	if !ok {
		return nil, fmt.Errorf("%s: %w", address, errRemoteSchema)
	}
	b, err := s.src.ReadFile(name)
	if err != nil {
		return nil, err
	}
	b = bytes.TrimPrefix(b, byteOrderMark)
	s.parts[name] = b
	return schemaDoc(b)
}

// schemaDoc decodes a document for the schema library, which does not survive numbers of any size, nor any depth.
func schemaDoc(b []byte) (any, error) {
	if at, what := TextFault(b); what != "" {
		return nil, &textFaultError{at, what}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if steps, wild := WildNumber(doc); wild {
		return nil, &wildNumberError{steps}
	}
	return doc, nil
}

// wildNumberError says that a document holds a number that no double holds.
type wildNumberError struct{ steps []string }

func (e *wildNumberError) Error() string {
	return "at /" + strings.Join(e.steps, "/") + ": a number out of the range of a double"
}

// checkSchema compiles the schema of a contract and judges its empty form.
func (l *loader) checkSchema(n *node, c *Contract) {
	a := n.arg("schema")
	if a == nil || c.Schema == "" {
		l.checkEmptyJSON(n, c)
		return
	}
	if c.Kind != "json" && c.Kind != "jsonl" && c.Kind != "" {
		l.error("UF6109", a.nameRange, "schema has no effect on a contract of kind %s.", c.Kind)
		return
	}
	s := l.compileSchema(a, c)
	empty := n.arg("empty")
	a.broken = a.broken || s == nil
	if s == nil || empty == nil || c.Empty == "" && c.Kind == "jsonl" {
		return
	}
	doc, err := schemaDoc([]byte(c.Empty))
	if wild := (*wildNumberError)(nil); errors.As(err, &wild) {
		l.error("UF6105", empty.place, "%q cannot be judged: %v.", c.Empty, err)
		return
	}
	if err != nil {
		l.error("UF6105", empty.place, "%q is not JSON: %v.", c.Empty, err)
		return
	}
	if err := s.Validate(doc); err != nil {
		l.error("UF6105", empty.place, "%q is not valid under %s: %s.", c.Empty, c.Schema, schemaCause(err))
	}
}

// checkEmptyJSON judges the empty form of a JSON contract without a schema.
func (l *loader) checkEmptyJSON(n *node, c *Contract) {
	if a := n.arg("empty"); a != nil && c.Kind == "json" && !json.Valid([]byte(c.Empty)) {
		l.error("UF6105", a.place, "%q is not JSON.", c.Empty)
	}
}

// compileSchema compiles each schema file once.
func (l *loader) compileSchema(a *argument, c *Contract) *jsonschema.Schema {
	if s, ok := l.schemas[c.Schema]; ok {
		c.SchemaParts = s.parts
		return s.schema
	}
	l.schemas[c.Schema] = compiledSchema{}
	doc, err := schemaDoc(c.SchemaDoc)
	if wild := (*wildNumberError)(nil); errors.As(err, &wild) {
		n := l.error("UF6103", a.place, "%s cannot be used: %v.", c.Schema, err)
		l.placeInSchema(n, c.Schema, c.SchemaDoc, wild.steps)
		return nil
	}
	if err != nil {
		l.error("UF6103", a.place, "%s is not JSON: %v.", c.Schema, err).
			also(rangeOfByte(c.Schema, c.SchemaDoc, jsonStop(c.SchemaDoc, err)), "it cannot be read from here on")
		return nil
	}
	late.Up()
	comp := jsonschema.NewCompiler()
	comp.DefaultDraft(jsonschema.Draft2020)
	loader := schemaLoader{l.ev.src, map[string][]byte{}}
	comp.UseLoader(loader)
	if err := comp.AddResource(schemaURL(c.Schema), doc); err != nil {
		l.error("UF6103", a.place, "%s: %v.", c.Schema, err)
		return nil
	}
	s, err := comp.Compile(schemaURL(c.Schema))
	if err != nil {
		l.schemaFailed(a, c, loader.parts, err)
		return nil
	}
	if l.schemaLoops(a, c, loader.parts, s) {
		return nil
	}
	if len(loader.parts) > 0 {
		c.SchemaParts = loader.parts
	}
	l.schemas[c.Schema] = compiledSchema{s, c.SchemaParts}
	return s
}

// jsonStop is where a decoder stopped: at the byte that does not fit, else at the end.
func jsonStop(doc []byte, err error) int {
	var fault *textFaultError
	if errors.As(err, &fault) {
		return fault.at
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > 0 {
		return max(min(int(syntax.Offset), len(doc))-1, 0)
	}
	return max(len(bytes.TrimRight(doc, " \t\r\n"))-1, 0)
}

func (l *loader) schemaFailed(a *argument, c *Contract, parts map[string][]byte, err error) {
	if errors.Is(err, errRemoteSchema) || strings.Contains(err.Error(), errRemoteSchema.Error()) {
		n := l.error("UF6104", a.place, "%s refers to something outside the campaign: %s.", c.Schema, remoteURL(err)).
			because("A check must give the same answer without a network.").hint("Save that schema below the campaign directory and refer to it by a relative path.")
		if at := bytes.Index(c.SchemaDoc, []byte(strconv.Quote(remoteURL(err)))); at >= 0 {
			n.also(rangeOfByte(c.Schema, c.SchemaDoc, at), "it is referred to here")
		}
		return
	}
	file, doc := c.Schema, c.SchemaDoc
	var inner *jsonschema.SchemaValidationError
	if errors.As(err, &inner) {
		address, _, _ := strings.Cut(inner.URL, "#")
		name, _ := schemaFile(address)
		if part, ok := parts[name]; ok {
			file, doc = name, part
		}
	}
	n := l.error("UF6103", a.place, "%s is not a JSON Schema: %s.", file, schemaCause(err))
	if v := innermost(err); v != nil && inner != nil {
		l.placeInSchema(n, file, doc, v.InstanceLocation)
	}
}

// placeInSchema adds to a problem where in a schema file it is.
func (l *loader) placeInSchema(n *Diagnostic, file string, doc []byte, steps []string) {
	if at, ok := placeInJSON(doc, steps); ok {
		n.also(rangeOfByte(file, doc, at), "this value")
	}
}

// remoteURL finds the address in the error of the schema library.
func remoteURL(err error) string {
	var load *jsonschema.LoadURLError
	if errors.As(err, &load) {
		return load.URL
	}
	return "a $ref"
}

// innermost is the problem that the schema library found first; nil for one of another kind.
func innermost(err error) *jsonschema.ValidationError {
	var inner *jsonschema.SchemaValidationError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return nil
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	return v
}

// schemaCause is the innermost problem that the schema library found, with its place in the document.
func schemaCause(err error) string {
	v := innermost(err)
	if v == nil {
		return strings.ReplaceAll(err.Error(), schemaBase, "")
	}
	return fmt.Sprintf("at /%s: %s", strings.Join(v.InstanceLocation, "/"), v.ErrorKind.LocalizedString(english))
}
