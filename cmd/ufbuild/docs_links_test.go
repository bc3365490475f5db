package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// mdLink matches the address of an inline link or image.
var mdLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// TestLinks follows every relative link of every page, to its anchor.
func TestLinks(t *testing.T) {
	pages := docPages(t)
	followed := 0
	for name, page := range pages {
		for _, m := range mdLink.FindAllStringSubmatch(withoutCode(page), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			followed++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			require.False(t, path.IsAbs(file) || strings.HasPrefix(to, ".."), "%s: %s leaves the repository", name, m[1])
			_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(to)))
			require.NoError(t, err, "%s: link %s", name, m[1])
			if anchor != "" {
				require.Contains(t, anchorsOf(pages[to]), anchor, "%s: link %s", name, m[1])
			}
		}
	}
	require.Greater(t, followed, 20, "no links were found")
}

// TestPagesAreReached wants every page below docs/ to be linked from the index.
func TestPagesAreReached(t *testing.T) {
	pages := docPages(t)
	linked := map[string]bool{}
	for _, m := range mdLink.FindAllStringSubmatch(pages["docs/index.md"], -1) {
		linked[path.Join("docs", m[1])] = true
	}
	for name := range pages {
		if strings.HasPrefix(name, "docs/") && name != "docs/index.md" {
			require.True(t, linked[name], "docs/index.md does not link to %s", name)
		}
	}
}

// mdPicture matches an image: what it says to who does not see it, and its file.
var mdPicture = regexp.MustCompile(`!\[([^\]]*)\]\(([^()\s]+)\)`)

// TestPicturesAreShown wants every picture on a page, in words too, and light enough for a clone.
func TestPicturesAreShown(t *testing.T) {
	shown := map[string]bool{}
	for name, page := range docPages(t) {
		for _, m := range mdPicture.FindAllStringSubmatch(page, -1) {
			shown[path.Join(path.Dir(name), m[2])] = true
			require.NotEmpty(t, m[1], "%s: picture %s has no words", name, m[2])
		}
	}
	files, err := os.ReadDir(filepath.Join("..", "..", "docs", "pictures"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		require.True(t, shown["docs/pictures/"+f.Name()], "no page shows docs/pictures/%s", f.Name())
		info, err := f.Info()
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(150_000), f.Name())
	}
}

// withoutCode blanks fenced blocks and code spans.
func withoutCode(page string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			b.WriteString(codeSpan.ReplaceAllString(line, "code"))
		}
	}
	return b.String()
}

// anchorsOf names the headings of a page as GitHub does.
func anchorsOf(page string) []string {
	var anchors []string
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if title := strings.TrimLeft(line, "#"); !fenced && title != line && strings.HasPrefix(title, " ") {
			anchors = append(anchors, anchorOf(title))
		}
	}
	return anchors
}

func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(title))
}

func TestAnchors(t *testing.T) {
	require.Equal(t, []string{"a-page", "exit-codes-and--j"}, anchorsOf("# A page\n```\n# no\n```\n## Exit codes, and `-j`!\n"))
}
