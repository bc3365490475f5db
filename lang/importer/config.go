package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// configFile is the settings file of a project, in its root.
const configFile = "ultrafuzz.toml"

// config is what ultrafuzz.toml says, by dotted key.
type config struct {
	order    []string
	values   map[string]value
	lists    map[string][]value
	asked    map[string]bool
	models   []*model
	standard *model // of tasks that name none; nil where the settings do not say
	topology string
	there    bool
}

// model is a model profile.
type model struct {
	id                   value
	name                 string
	agent, model, effort value
	fallback             []*model
	timeout              value
	used                 bool // by a task or a group, or as the fallback of one that is
}

func (im *importer) readConfig() error {
	c := &config{values: map[string]value{}, lists: map[string][]value{}, asked: map[string]bool{}}
	im.config = c
	src, err := fs.ReadFile(im.files, configFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	c.there = true
	if err := c.parse(src); err != nil {
		return fmt.Errorf("read settings: %s is not TOML: %w", configFile, err)
	}
	c.asked["schema_version"] = true
	if t := c.get("topology_path"); t.set() {
		c.topology = path.Clean(t.text)
	}
	if repo := c.get("project.repo"); repo.set() && repo.text != "." {
		im.lost(repo, "project.repo is %q: the campaign works on the directory it lies in.", repo.text)
	}
	for _, s := range knownSettings {
		if v := c.get(s.toml); v.set() {
			im.settings[s.name] = v
		}
	}
	im.readModels()
	return nil
}

// get returns a setting as text.
func (c *config) get(key string) value {
	c.asked[key] = true
	return c.values[key]
}

// parse reads TOML into flat keys.
func (c *config) parse(src []byte) error {
	var p unstable.Parser
	p.Reset(src)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = joinKey("", e)
		case unstable.KeyValue:
			c.put(&p, joinKey(table, e), e)
		}
	}
	return p.Error()
}

// joinKey appends the dotted key of an expression to that of its table.
func joinKey(table string, e *unstable.Node) string {
	var parts []string
	if table != "" {
		parts = append(parts, table)
	}
	for it := e.Key(); it.Next(); {
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, ".")
}

// put stores the value of an expression; the parts of an inline table become keys of their own.
func (c *config) put(p *unstable.Parser, key string, e *unstable.Node) {
	it := e.Key()
	it.Next()
	line := p.Shape(it.Node().Raw).Start.Line
	v := e.Value()
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			c.put(p, joinKey(key, it.Node()), it.Node())
		}
		return
	case unstable.Array:
		list := []value{}
		for it := v.Children(); it.Next(); {
			list = append(list, value{text: string(it.Node().Data), file: configFile, line: line})
		}
		c.lists[key] = list
	}
	c.order = append(c.order, key)
	c.values[key] = value{text: string(bytes.Clone(v.Data)), file: configFile, line: line}
}

// modelFields are the settings of a model profile.
var modelFields = []string{"agent", "model", "reasoning", "timeout_seconds"}

func (im *importer) readModels() {
	c, taken := im.config, names{}
	for _, key := range c.order {
		id, field, ok := strings.Cut(strings.TrimPrefix(key, "models."), ".")
		if !ok || !strings.HasPrefix(key, "models.") || !slices.Contains(modelFields, field) {
			continue
		}
		if slices.ContainsFunc(c.models, func(m *model) bool { return m.id.text == id }) {
			continue
		}
		base := "models." + id + "."
		m := &model{id: c.values[key], name: taken.take(id)}
		m.id.text = id
		m.agent, m.model, m.effort, m.timeout = c.get(base+"agent"), c.get(base+"model"), c.get(base+"reasoning"), c.get(base+"timeout_seconds")
		im.renamed(m.id, "model profile", m.name)
		c.models = append(c.models, m)
	}
	c.asked["models.synthesized_default"] = true
	im.readFallback()
}

// readFallback reads the chain of profiles; its first is the one that tasks use by default.
func (im *importer) readFallback() {
	c := im.config
	chain := c.lists["retry.agents"]
	c.asked["retry.agents"] = true
	if len(chain) == 0 {
		return
	}
	var rungs []*model
	for _, id := range chain {
		i := slices.IndexFunc(c.models, func(m *model) bool { return m.id.text == id.text })
		if i < 0 {
			im.lost(id, "retry.agents names the model profile %s, which is not there: it is left out.", id.text)
			continue
		}
		rungs = append(rungs, c.models[i])
	}
	if len(rungs) > 0 {
		c.standard = rungs[0]
		c.standard.fallback = rungs[1:]
	}
}

// defaultProfile is what a task uses that names no profile.
const defaultProfile = "default"

// use returns a model profile for a task or a group, made up when the settings do not declare it.
func (im *importer) use(id value) *model {
	i := slices.IndexFunc(im.config.models, func(m *model) bool { return m.id.text == id.text })
	if i >= 0 {
		m := im.config.models[i]
		m.used = true
		for _, f := range m.fallback {
			f.used = true
		}
		return m
	}
	m := &model{id: id, name: legalName(id.text), used: true}
	im.config.models = append(im.config.models, m)
	im.changed(id, "Model profile %s is not declared in %s: profile.%s has no model yet.", id.text, configFile, m.name)
	return m
}

// closeConfig notes the settings that nothing asked for.
func (im *importer) closeConfig() {
	for _, key := range im.config.order {
		if !im.config.asked[key] {
			im.lost(im.config.values[key], "%s has no counterpart: it is left out.", key)
		}
	}
}

// duration prints seconds as a campaign writes durations.
func duration(seconds string) string {
	n, err := strconv.Atoi(seconds)
	if err != nil {
		return seconds
	}
	d := (time.Duration(n) * time.Second).String()
	if strings.HasSuffix(d, "m0s") {
		d = strings.TrimSuffix(d, "0s")
	}
	if strings.HasSuffix(d, "h0m") {
		d = strings.TrimSuffix(d, "0m")
	}
	return d
}
