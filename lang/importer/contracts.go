package importer

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// contract is a contract that outputs name.
type contract struct {
	id     value // where it is named first
	name   string
	kind   string
	filled bool   // at least one byte
	empty  string // the valid empty form; "" when not known
	top    string // JSON type of the document; "" when not known
	shape  *shape // what the campaign reads of it; nil for nothing
	schema []byte // of the project; nil when it has none
}

// reads returns the shape to record reads in.
func (c *contract) reads() *shape {
	if c.shape == nil {
		c.shape = &shape{}
	}
	return c.shape
}

// contractID is namespace/name@version.
var contractID = regexp.MustCompile(`^(?:([^/@]+)/)?([^@]+?)(?:@(.+))?$`)

// contract returns the contract with an id, which it declares at first use for an output at a path.
func (im *importer) contract(id value, at string) *contract {
	if c := im.contracts[id.text]; c != nil {
		return c
	}
	m := contractID.FindStringSubmatch(id.text)
	if m == nil {
		im.lost(id, "%q is no name of a contract: it is left out.", id.text)
		return nil
	}
	namespace, base, version := m[1], m[2], m[3]
	name := base
	if namespace != "" && namespace != "ultrafuzz" {
		name = namespace + "-" + name
	}
	if version != "" {
		name += "-v" + version
	}
	taken := names{}
	for _, c := range im.contractOrder {
		taken[c.name] = true
	}
	c := &contract{id: id, name: taken.take(name), filled: strings.Contains(base, "nonempty")}
	c.guess(base, path.Ext(at))
	if c.kind == "json" || c.kind == "jsonl" {
		c.schema = im.projectSchema(id, base)
	}
	im.contracts[id.text], im.contractOrder = c, append(im.contractOrder, c)
	return c
}

// guess says what kind of file a contract means, by its name, else by the ending of the file.
func (c *contract) guess(base, ext string) {
	switch {
	case strings.Contains(base, "markdown"):
		c.kind = "markdown"
	case base == "text":
		c.kind = "text"
	case base == "json-array", base == "findings":
		c.kind, c.top, c.empty = "json", "array", "[]"
	case base == "json-object":
		c.kind, c.top = "json", "object"
	case ext == ".json":
		c.kind = "json"
	case ext == ".jsonl", ext == ".ndjson":
		c.kind = "jsonl"
	case ext == ".md", ext == ".mdx":
		c.kind = "markdown"
	default:
		c.kind = "text"
	}
}

// projectSchema returns the schema that the project itself has for a contract; nil for none.
func (im *importer) projectSchema(id value, base string) []byte {
	for _, dir := range []string{path.Join(im.dir, "schemas"), "schemas"} {
		file := path.Join(dir, base+".schema.json")
		src, err := fs.ReadFile(im.files, file)
		if err != nil {
			continue
		}
		if !json.Valid(src) || outsideRef.Match(src) {
			im.lost(id, "%s is not one JSON document that stands alone: a stub takes its place.", file)
			return nil
		}
		return src
	}
	return nil
}

// outsideRef finds a reference to another schema document.
var outsideRef = regexp.MustCompile(`"\$(?:ref|dynamicRef)"\s*:\s*"[^#"]`)

// schemaPath is where the schema of a contract lies; "" when it has none.
func (c *contract) schemaPath() string {
	if c.kind != "json" && c.kind != "jsonl" {
		return ""
	}
	return "schemas/" + c.name + ".schema.json"
}

// schemaDoc returns the schema of a contract. A stub says what is known: the type of the document and,
// closed, the fields that the campaign reads.
func (c *contract) schemaDoc() []byte {
	if c.schema != nil {
		return c.schema
	}
	doc := map[string]any{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       c.id.text,
		"description": "A stub: say here what the documents hold.",
	}
	if c.top != "" {
		doc["type"] = c.top
	}
	if c.shape != nil {
		for k, v := range c.shape.schema() {
			doc[k] = v
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		panic("BUG: encode schema: " + err.Error())
	}
	return b.Bytes()
}

// shape is what is read of a JSON document.
type shape struct {
	fields map[string]*shape
	list   *shape
}

// field returns the shape of a field.
func (s *shape) field(name string) *shape {
	if s.fields == nil {
		s.fields = map[string]*shape{}
	}
	if s.fields[name] == nil {
		s.fields[name] = &shape{}
	}
	return s.fields[name]
}

// at returns the shape of a field below others.
func (s *shape) at(fields []string) *shape {
	for _, f := range fields {
		s = s.field(f)
	}
	return s
}

// element returns the shape of the elements of a list.
func (s *shape) element() *shape {
	if s.list == nil {
		s.list = &shape{}
	}
	return s.list
}

// schema prints a shape as JSON Schema; what nothing is read of is a text.
func (s *shape) schema() map[string]any {
	switch {
	case s.list != nil:
		return map[string]any{"type": "array", "items": s.list.schema()}
	case s.fields != nil:
		props := map[string]any{}
		for name, f := range s.fields {
			props[name] = f.schema()
		}
		return map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	}
	return map[string]any{"type": "string"}
}
