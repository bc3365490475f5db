package agent

import (
	"strings"

	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/lang"
)

// outputsHeading opens what is added after the prompt. Agents read it as part of the task.
const outputsHeading = `## Outputs

Work in the current directory. When you are done these outputs must exist exactly as described;
nothing else you write is kept as a result. They are checked by a program, not read by a person.

`

const feedbackHeading = `## What the last try got wrong

An earlier try of this task was rejected. What it wrote is under ` + "`" + FeedbackDir + "/`" + `; start from it
and set right what the check said:

`

// Compose returns the full text for an agent: the rendered prompt, a section on the declared
// outputs, and on a feedback try the messages of the contract.
func Compose(prompt string, outputs []lang.Output, feedback []string) string {
	var b strings.Builder
	b.WriteString(prompt)
	if len(outputs) > 0 {
		section(&b, outputsHeading)
		for i, o := range outputs {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(contract.Describe(o))
		}
	}
	if len(feedback) > 0 {
		section(&b, feedbackHeading)
		b.WriteString(messages(feedback))
	}
	return b.String()
}

// section starts a new section with one blank line before it, whatever ends the text so far.
func section(b *strings.Builder, heading string) {
	if text := b.String(); text != "" {
		b.WriteString(strings.Repeat("\n", max(0, 2-trailingNewlines(text))))
	}
	b.WriteString(heading)
}

func trailingNewlines(s string) int { return len(s) - len(strings.TrimRight(s, "\n")) }

// FeedbackFile returns the content of FeedbackPath.
func FeedbackFile(feedback []string) []byte {
	return []byte("# What the contract said\n\n" + messages(feedback))
}

func messages(feedback []string) string {
	var b strings.Builder
	for _, m := range feedback {
		b.WriteString("- " + strings.ReplaceAll(m, "\n", "\n  ") + "\n")
	}
	return b.String()
}
