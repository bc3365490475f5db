package lang

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// evalCodes gives the code of the problems that HCL's evaluator reports, by its summary.
var evalCodes = map[string]string{
	"Unknown variable":                             "UF2001",
	"Variables not allowed":                        "UF2001",
	"Unsupported attribute":                        "UF2101",
	"Missing map element":                          "UF2103",
	"Invalid index":                                "UF2103",
	"Inconsistent conditional result types":        "UF2102",
	"Invalid template interpolation value":         "UF2104",
	"Attempt to get attribute from null value":     "UF2105",
	"Attempt to index null value":                  "UF2105",
	"Splat of null value":                          "UF2105",
	"Iteration over null value":                    "UF2105",
	"Iteration over non-iterable value":            "UF2106",
	"Invalid operand":                              "UF2107",
	"Operation failed":                             "UF2107",
	"Unsupported operator":                         "UF2107",
	"Incorrect condition type":                     "UF2107",
	"Null condition":                               "UF2107",
	"Condition is null":                            "UF2107",
	"Invalid 'for' condition":                      "UF2107",
	"Incorrect key type":                           "UF2107",
	"Null value as key":                            "UF2105",
	"Call to unknown function":                     "UF2201",
	"Function calls not allowed":                   "UF2201",
	"Error in function call":                       "UF2202",
	"Invalid function argument":                    "UF2203",
	"Invalid expanding argument value":             "UF2203",
	"Not enough function arguments":                "UF2204",
	"Too many function arguments":                  "UF2204",
	"Duplicate object key":                         "UF1105",
	"Duplicate object attribute":                   "UF1105",
	"Ambiguous attribute key":                      "UF1000",
	"Invalid object key":                           "UF2107",
	"Nested splat expression not allowed":          "UF1000",
	"Invalid type specification":                   "UF9003",
	"Invalid default value for optional attribute": "UF9003",
}

// syntaxCodes gives the code of problems that the parser reports; everything else is UF1000.
var syntaxCodes = map[string]string{
	"Attribute redefined":            "UF1104",
	"Duplicate argument":             "UF1104",
	"Duplicate attribute definition": "UF1104",
	"Invalid character encoding":     "UF1002",
	"Unsupported argument":           "UF1101",
	"Unsupported block type":         "UF1102",
	"Missing required argument":      "UF1103",
	"Missing block label":            "UF1107",
}

// subjectOf returns the range HCL blames, the context when there is no other, else fallback.
func subjectOf(d *hcl.Diagnostic, fallback hcl.Range) hcl.Range {
	switch {
	case d.Subject != nil:
		return *d.Subject
	case d.Context != nil:
		return *d.Context
	}
	return fallback
}

// sentenceEnd is a full stop before a blank or a new paragraph.
var sentenceEnd = lookFor(`\.\s+`)

// sentence joins HCL's summary and detail into one line: the first sentence of the detail says what is
// wrong here, the rest is the reason.
func sentence(d *hcl.Diagnostic) (summary, rest string) {
	detail := strings.TrimSpace(d.Detail)
	if detail == "" {
		return strings.TrimSuffix(d.Summary, ".") + ".", ""
	}
	if i := sentenceEnd().FindStringIndex(detail); i != nil {
		return detail[:i[0]+1], strings.TrimSpace(detail[i[1]:])
	}
	return strings.TrimSuffix(detail, ".") + ".", ""
}

// evalProblems records what HCL's evaluator reported about an expression in the given range.
func (p *problems) evalProblems(ds hcl.Diagnostics, where hcl.Range) {
	for _, d := range ds {
		if d.Severity != hcl.DiagError || p.arityProblem(d) || p.callProblem(d) {
			continue
		}
		code := evalCodes[d.Summary]
		if code == "" {
			code = "UF2107"
		}
		summary, rest := sentence(d)
		p.error(code, subjectOf(d, where), "%s", summary).Detail = rest
	}
}

// arityForm is how HCL's evaluator says that a call has too few or too many arguments.
var arityForm = lookFor(`^Function "(\w+)" expects (only |at least )?(\d+) argument`)

// arityProblem reports a wrong number of arguments as the type checker does, which finds the same.
func (p *problems) arityProblem(d *hcl.Diagnostic) bool {
	m := arityForm().FindStringSubmatch(d.Detail)
	if m == nil || d.Context == nil {
		return false
	}
	name := *d.Context // the call, which begins with the name of the function
	name.End = name.Start
	name.End.Byte += len(m[1])
	name.End.Column += len(m[1])
	want, _ := strconv.Atoi(m[3])
	wrongArity(p, name, m[1], strings.TrimPrefix(m[2], "only "), want)
	return true
}

// badArgument is how HCL's evaluator begins to say that a function refuses an argument.
var badArgument = lookFor(`^Invalid value for "\w+" parameter: `)

// callProblem reports what a function says of its arguments in the words of the type checker, which finds some of it.
func (p *problems) callProblem(d *hcl.Diagnostic) bool {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
	if !ok || d.Expression == nil {
		return false
	}
	where, name := d.Expression.Range(), call.CalledFunctionName() // of the argument, or of the whole call
	switch d.Summary {
	case "Invalid function argument":
		p.error("UF2203", where, "%s: %s.", name, strings.TrimSuffix(badArgument().ReplaceAllString(d.Detail, ""), "."))
	case "Error in function call":
		p.error("UF2202", where, "%s: %s.", name, wordsOf(call.FunctionCallError()))
	default:
		return false
	}
	return true
}

// wordsOf is an error of a function for people; decoders know the end of a text by its technical name alone.
func wordsOf(err error) string {
	if err.Error() == "EOF" || err.Error() == "unexpected EOF" {
		return "the text ends too early"
	}
	return err.Error()
}

// syntaxProblems records the first syntax error of a file: one missing quote makes seven, and only
// the first is right. Arguments set twice are independent of each other and all reported.
func (p *problems) syntaxProblems(ds hcl.Diagnostics, where hcl.Range, src []byte, prompt bool) {
	first := true
	for _, d := range ds {
		code := syntaxCodes[d.Summary]
		if code == "" {
			code = "UF1000"
			if prompt {
				code = "UF5005"
			}
		}
		if code == "UF1000" || code == "UF5005" || code == "UF1002" {
			if !first && !p.allErrors {
				continue
			}
			first = false
		}
		summary, rest := sentence(d)
		if m := setBefore().FindStringSubmatch(d.Detail); m != nil {
			p.setTwice(subjectOf(d, where), src, m)
			continue
		}
		if m := notEnded().FindStringSubmatch(d.Detail); m != nil {
			p.error(code, markAt(src, where, m[2], m[3]), "This %s has no %s.", m[1], m[4]).
				hint("Add %%{ %s } where it ends. If this is text and no template, write %%%%{ instead of %%{.", m[4])
			continue
		}
		if open, word, ok := openHeredoc(d, src, where); ok {
			p.error(code, open, "This text has no line %s that ends it.", word).
				hint("It ends at a line that holds %s alone; a comma or a bracket behind it stands on the next line.", word)
			continue
		}
		words, known := ourWords(d)
		if !known {
			words.summary = syntaxSentence(d, summary)
		}
		n := p.error(code, subjectOf(d, where), "%s", words.summary)
		if n.Hint = words.hint; !known {
			n.Detail = rest
		}
		if code == "UF1000" || code == "UF5005" {
			p.syntaxAdvice(n, d, src, where, prompt)
		}
	}
}

// syntaxAdvice adds what to do to a syntax error, and the place where the template began that ends wrong.
func (p *problems) syntaxAdvice(n *Diagnostic, d *hcl.Diagnostic, src []byte, where hcl.Range, prompt bool) {
	bad := subjectOf(d, where)
	if open, ok := markBefore(src, where.Start, bad, "${#"); ok {
		place := at(open)
		n.Subject, n.Summary, n.Detail = &place, "What follows # is a comment, so this template has no end.", ""
		n.Hint = "If this is text and no template, such as a length in a shell, write $${# instead of ${#."
		return
	}
	tokens := p.tokens(src, where.Start, bad.Filename, prompt)
	if n.unclosed(tokens, bad, src, where, prompt) {
		return
	}
	if open, ok := markBefore(src, where.Start, bad, "${{"); ok && open.Start.Line == bad.Start.Line {
		n.Hint = "If this is text and no template, such as an expression of a workflow, write $${{ instead of ${{."
		return
	}
	switch open, ok := openingBefore(src, where.Start, bad); {
	case d.Summary == "Invalid multi-line string": // HCL speaks of templates there; a quote is missing
	case escapeHint(d) != "":
		n.Hint = escapeHint(d)
		if strings.Contains(n.Detail, "escape") {
			n.Detail = "" // the hint says it shorter
		}
		if ok && open.Start.Line < subjectOf(d, where).Start.Line && open.Filename == n.Subject.File {
			n.also(open, "the template begins here")
		}
	case prompt && ok && d.Summary == "Invalid character":
		n.Detail, n.Hint = "", "Close it by }. If it is text and no template, such as a shell parameter, write $${ instead of ${."
		n.also(open, "the template begins here")
	default:
		open, ok := openMark(tokens, bad)
		if !ok && prompt {
			open.mark = "${"
		}
		n.Hint = strings.TrimSpace(n.Hint + " " + textHints[open.mark])
	}
}

// markBefore is the last of a mark before a problem that is no escape.
func markBefore(src []byte, start hcl.Pos, at hcl.Range, mark string) (hcl.Range, bool) {
	end := min(at.Start.Byte-start.Byte, len(src))
	i := bytes.LastIndex(src[:max(end, 0)], []byte(mark))
	if i < 0 || i > 0 && src[i-1] == '$' {
		return hcl.Range{}, false
	}
	return rangeAt(src, start, at.Filename, i, len("${")), true
}

// openingBefore is the last ${ before a problem that is no escape and was not closed.
func openingBefore(src []byte, start hcl.Pos, at hcl.Range) (hcl.Range, bool) {
	end := min(at.Start.Byte-start.Byte, len(src))
	if end < 0 {
		return hcl.Range{}, false
	}
	i := bytes.LastIndex(src[:end], []byte("${"))
	if i < 0 || i > 0 && src[i-1] == '$' || bytes.IndexByte(src[i:end], '}') >= 0 {
		return hcl.Range{}, false
	}
	return rangeAt(src, start, at.Filename, i, len("${")), true
}

// rangeAt is the range of n letters of a text that begins at start.
func rangeAt(src []byte, start hcl.Pos, file string, i, n int) hcl.Range {
	lineStart := bytes.LastIndexByte(src[:i], '\n') + 1
	pos := hcl.Pos{Line: start.Line + bytes.Count(src[:i], []byte("\n")), Byte: start.Byte + i}
	pos.Column = utf8.RuneCount(src[lineStart:i]) + 1
	if lineStart == 0 {
		pos.Column += start.Column - 1
	}
	stop := pos
	stop.Byte, stop.Column = pos.Byte+n, pos.Column+n
	return hcl.Range{Filename: file, Start: pos, End: stop}
}

// setBefore finds the first place of an argument in what HCL says when it is set twice.
var setBefore = lookFor(`argument "([^"]+)" was already set at (.+):(\d+),(\d+)-`)

// heredocOpening is the end of a line behind which a text of several lines begins.
var heredocOpening = lookFor(`<<-?(\w+)[ \t\r]*\n$`)

// openHeredoc finds where a text of several lines begins that is never closed, and the word that would close it. HCL blames
// the end of the file.
func openHeredoc(d *hcl.Diagnostic, src []byte, where hcl.Range) (open hcl.Range, word string, ok bool) {
	if d.Summary != "Unterminated template string" || d.Context == nil || d.Context.Start.Column != 1 {
		return hcl.Range{}, "", false
	}
	end := d.Context.Start.Byte - where.Start.Byte
	if end <= 0 || end > len(src) {
		return hcl.Range{}, "", false
	}
	m := heredocOpening().FindSubmatchIndex(src[:end])
	if m == nil {
		return hcl.Range{}, "", false
	}
	start := hcl.Pos{Line: d.Context.Start.Line - 1, Byte: where.Start.Byte + m[0]}
	start.Column = utf8.RuneCount(src[bytes.LastIndexByte(src[:m[0]], '\n')+1:m[0]]) + 1
	stop := start
	stop.Byte, stop.Column = where.Start.Byte+m[3], start.Column+m[3]-m[0]
	return hcl.Range{Filename: where.Filename, Start: start, End: stop}, string(src[m[2]:m[3]]), true
}

// notEnded finds where a directive of a template begins that has no end.
var notEnded = lookFor(`^The (\w+) directive at .+:(\d+),(\d+)-\S+ is missing its corresponding (\w+) directive`)

// markAt is the %{ at a line and a column, in a text that begins at where.
func markAt(src []byte, where hcl.Range, line, column string) hcl.Range {
	l, _ := strconv.Atoi(line)
	c, _ := strconv.Atoi(column)
	start := hcl.Pos{Line: l, Column: c, Byte: where.Start.Byte + lineOffset(src, l-where.Start.Line+1) + c - 1}
	if l == where.Start.Line {
		start.Byte -= where.Start.Column - 1
	}
	end := start
	end.Byte, end.Column = start.Byte+len("%{"), start.Column+len("%{")
	return hcl.Range{Filename: where.Filename, Start: start, End: end}
}

// setTwice reports an argument that is set twice; m is the match of setBefore.
func (p *problems) setTwice(where hcl.Range, src []byte, m []string) {
	line, _ := strconv.Atoi(m[3])
	column, _ := strconv.Atoi(m[4])
	first := hcl.Range{Filename: where.Filename, Start: hcl.Pos{Line: line, Column: column, Byte: lineOffset(src, line) + column - 1}}
	size := len(m[1])
	if first.Start.Byte < len(src) && src[first.Start.Byte] == '"' { // in JSON
		size += len(`""`)
	}
	first.End = hcl.Pos{Line: line, Column: column + size, Byte: first.Start.Byte + size}
	p.error("UF1104", where, "%q was already set at %s:%d.", m[1], m[2], line).also(first, "it is set here first")
}

// syntaxSentence puts HCL's summary before the detail where the detail alone does not say what is wrong.
func syntaxSentence(d *hcl.Diagnostic, detail string) string {
	if strings.Contains(strings.ToLower(detail), strings.ToLower(d.Summary)) || d.Summary == "Attribute redefined" {
		return detail
	}
	return strings.TrimSuffix(d.Summary, ".") + ": " + detail
}

// escapeHint says how to write template markers as plain text.
func escapeHint(d *hcl.Diagnostic) string {
	s := d.Summary + d.Detail
	switch {
	case strings.Contains(s, "control keyword"), strings.Contains(s, "directive"):
		return textHints["%{"]
	case strings.Contains(s, "interpolation"), strings.Contains(s, "template"), strings.Contains(s, "Extra characters"):
		return textHints["${"]
	}
	return ""
}

// textHints say by the mark of a template how to write it as plain text.
var textHints = map[string]string{
	"${": "If this is text and no template, such as a shell parameter, write $${ instead of ${.",
	"%{": "If this is text and no template, write %%{ instead of %{.",
}
