package lang

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sliceText = `# the head
campaign {}
task "a" {
  command = ["true"]
}

# of b
task "b" {
  command = ["sh", "-c", <<EOT
task "not" {
}
EOT
  ]
}
locals { x = 1 }
task "c" { command = ["a", task.a.ok] }
`

func sliceFile(t *testing.T, text string) SliceFile {
	blocks, ok := blocksFrom([]byte(text), 0, 1)
	require.True(t, ok)
	return SliceFile{Text: []byte(text), Blocks: blocks}
}

func TestFileBlocks(t *testing.T) {
	f := sliceFile(t, sliceText)
	require.Equal(t, []FileBlock{
		{Start: 0, Line: 1}, {Start: 11, Line: 2}, {Task: "a", Start: 23, Line: 3}, {Task: "b", Start: 65, Line: 8},
		{Start: strings.Index(sliceText, "locals"), Line: 15}, {Task: "c", Start: strings.Index(sliceText, `task "c"`), Line: 16},
	}, f.Blocks)
}

func TestEditedTasks(t *testing.T) {
	for name, test := range map[string]struct {
		old, now string
		edited   []string
		ok       bool
	}{
		"nothing":                    {"", "", nil, true},
		"a value":                    {`["true"]`, `["false"]`, []string{"a"}, true},
		"more lines":                 {`["true"]`, "[\n\n\"true\"]", []string{"a"}, true},
		"at the end":                 {"task.a.ok] }\n", "task.a.ok] }", []string{"c"}, true},
		"in a heredoc":               {"task \"not\"", "task \"yes\"", []string{"b"}, true},
		"a comment of the next":      {"# of b", "# of whom", []string{"a"}, true}, // which stands at the end of the one before
		"another kind of block":      {"x = 1", "x = 2", nil, false},
		"the head":                   {"# the head", "# a head", nil, false},
		"a name":                     {`task "c"`, `task "d"`, nil, false},
		"one more":                   {"locals", "task \"d\" {}\nlocals", nil, false},
		"one less":                   {"task \"c\" { command = [\"a\", task.a.ok] }\n", "", nil, false},
		"a comment that covers many": {"# of b", "/* of b", nil, false},
		"two, far apart":             {"[\"true\"]\n}\n", "[\"no\"]\n}\n", []string{"a"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			was := sliceFile(t, sliceText)
			text := strings.Replace(sliceText, test.old, test.now, 1)
			now, edited, ok := EditedTasks(was, []byte(text))
			require.Equal(t, test.ok, ok)
			if ok {
				require.Equal(t, test.edited, edited)
				require.Equal(t, sliceFile(t, text), now)
			}
		})
	}
}

// TestHeredocWithoutItsEnd takes in what follows, which was not looked at. So the block has to parse before anybody believes it.
func TestHeredocWithoutItsEnd(t *testing.T) {
	now, edited, ok := EditedTasks(sliceFile(t, sliceText), []byte(strings.Replace(sliceText, "EOT\n  ]", "EOTS\n  ]", 1)))
	require.True(t, ok)
	require.Equal(t, []string{"b"}, edited)
	require.False(t, parses(&now, edited))
}

// TestEditedTasksFindsWhatDiffers edits a file at random. Where the edits are told by tasks, the file is cut as it is when it is
// read as a whole, and the tasks are those whose blocks differ.
func TestEditedTasksFindsWhatDiffers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"task \"z\" {\n}\n", "\n", "}", "<<EOT\n", "EOT\n", "/*", "*/", "\"", "# c\n", "t", "locals {}\n", "task \"a\" {"}
	text, told := sliceText, 0
	for range 20_000 {
		was := sliceFile(t, text)
		now := text
		for range 1 + r.IntN(3) {
			at := r.IntN(len(now) + 1)
			until := min(len(now), at+r.IntN(4)*r.IntN(8))
			piece := ""
			if r.IntN(2) == 0 {
				piece = pieces[r.IntN(len(pieces))]
			}
			now = now[:at] + piece + now[until:]
		}
		blocks, cuts := blocksFrom([]byte(now), 0, 1)
		got, edited, ok := EditedTasks(was, []byte(now))
		if !ok {
			continue
		}
		told++
		whole := SliceFile{Text: []byte(now), Blocks: blocks}
		if !cuts || !sameCuts(&whole, &got) {
			// a heredoc that ends in what was not looked at: the slice does not parse, and the whole campaign is looked at
			require.False(t, parses(&got, edited), "%q → %q", text, now)
			continue
		}
		var differ []string
		for i := range was.Blocks {
			if string(was.text(i)) != string(got.text(i)) {
				differ = append(differ, was.Blocks[i].Task)
			}
		}
		require.Equal(t, differ, edited)
		if r.IntN(20) == 0 {
			text = sliceText
		} else if cuts {
			text = now
		}
		if len(text) > 4*len(sliceText) {
			text = sliceText
		}
	}
	require.Greater(t, told, 500)
}

func sameCuts(a, b *SliceFile) bool {
	if len(a.Blocks) != len(b.Blocks) {
		return false
	}
	for i := range a.Blocks {
		if a.Blocks[i] != b.Blocks[i] {
			return false
		}
	}
	return true
}

// parses reports whether the edited blocks parse, each by itself.
func parses(f *SliceFile, edited []string) bool {
	s := Slice{Tasks: map[string]SliceDepth{}}
	for _, name := range edited {
		s.Tasks[name] = InFull
	}
	return s.parse("campaign.hcl", f) != nil
}
