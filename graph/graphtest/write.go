package graphtest

import (
	"fmt"
	"strings"
)

// Files returns campaign.hcl and every source file by slash path.
func (m *Model) Files() map[string]string {
	files := map[string]string{"campaign.hcl": m.campaign()}
	for file, text := range m.sources {
		files[file] = text
	}
	return files
}

func (m *Model) campaign() string {
	var b strings.Builder
	if m.note != "" {
		fmt.Fprintf(&b, "# %s\n\n", m.note)
	}
	for i, t := range m.tasks {
		if i > 0 {
			b.WriteString("\n")
		}
		t.write(&b)
	}
	return b.String()
}

// script is the text the shell gets; its arguments are the files to read.
func (t *task) script() string {
	return fmt.Sprintf(`echo %s >> "$%s"; { cat /dev/null "$@" | LC_ALL=C %s; echo %s; } > %s`,
		t.uid, TraceVariable, t.filter.shell, t.word, Output)
}

func (t *task) write(b *strings.Builder) {
	args := []string{`"sh"`, `"-c"`, quote(t.script()), `"sh"`}
	for _, file := range t.sources {
		args = append(args, quote(file))
	}
	for _, other := range t.reads {
		args = append(args, fmt.Sprintf("task.%s.outputs.o.path", other.name))
	}
	fmt.Fprintf(b, "task %q {\n", t.name)
	fmt.Fprintf(b, "  command  = [%s]\n", strings.Join(args, ", "))
	fmt.Fprintf(b, "  pass_env = [%q]\n  timeout  = \"%dm\"\n", TraceVariable, t.timeout)
	writeList(b, "depends_on", t.needs)
	writeList(b, "after", t.after)
	for i, file := range t.sources {
		fmt.Fprintf(b, "  input \"i%d\" {\n    glob = [%s]\n  }\n", i, quote(file))
	}
	fmt.Fprintf(b, "  output \"o\" {\n    path = %q\n  }\n}\n", Output)
}

func writeList(b *strings.Builder, argument string, tasks []*task) {
	if len(tasks) == 0 {
		return
	}
	var names []string
	for _, t := range tasks {
		names = append(names, "task."+t.name)
	}
	fmt.Fprintf(b, "  %s = [%s]\n", argument, strings.Join(names, ", "))
}

// quote makes text an HCL string. No text here holds a control character.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", "$${", "%{", "%%{").Replace(s) + `"`
}
