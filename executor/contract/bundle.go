package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"

	"github.com/ufbuild/ufbuild/lang"
)

const (
	// BundlePath is where the workspace of a prompt holds the contracts of its outputs, so that an agent
	// can check a draft where the campaign cannot be reached.
	BundlePath = ".uf/contract/contracts.json"
	// BundleFiles is the directory of what their validate commands use, each at its own path below it.
	BundleFiles = ".uf/contract/files"
)

// bundleVersion is the version of the format of a bundle. It lives no longer than an attempt.
const bundleVersion = 1

// Bundle is what judging the outputs of one attempt takes, beside the bytes in its workspace. It holds
// nothing that the agent could not read anyway: documents that flow in are named by their path, others are
// left out, since bytes that are not in the key may not reach an agent.
type Bundle struct {
	Version  int              `json:"schema_version"`
	Outputs  []lang.Output    `json:"outputs"`
	Compared []BundleDocument `json:"compared,omitempty"`
}

// BundleDocument is a document that rules compare with.
type BundleDocument struct {
	Name  string        `json:"name"`
	State DocumentState `json:"state"`
	Why   string        `json:"why,omitempty"`
	Lines bool          `json:"lines,omitempty"`
	Path  string        `json:"path,omitempty"` // in the workspace, where it is There
}

// Packed is a file of a bundle.
type Packed struct {
	Path  string // slash path in the workspace
	Bytes []byte
	Mode  uint32
}

// Pack makes the files of a bundle. A file that a validate command uses and that is no longer what the
// verdict's key says is an error.
func (b Bundle) Pack(files Files) ([]Packed, error) {
	b.Version = bundleVersion
	text, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("write contracts for the workspace: %w", err)
	}
	packed := []Packed{{Path: BundlePath, Bytes: text, Mode: 0o444}}
	seen := map[string]bool{}
	for i := range b.Outputs {
		c := b.Outputs[i].Contract
		if c == nil || len(c.Validate) == 0 {
			continue
		}
		used, err := usedFiles(files, c.Uses, c.Validate)
		if err != nil {
			return nil, fmt.Errorf("read files of contract %q: %w", c.Name, err)
		}
		for _, f := range used {
			if seen[f.Path] || f.Target != "" { // a link is followed from where it is
				continue
			}
			seen[f.Path] = true
			in, err := files.Reader(f.Path)
			if err != nil {
				return nil, fmt.Errorf("read files of contract %q: %w", c.Name, err)
			}
			text, err := io.ReadAll(in)
			_ = in.Close()
			if err != nil {
				return nil, fmt.Errorf("read files of contract %q: %w", c.Name, err)
			}
			packed = append(packed, Packed{Path: path.Join(BundleFiles, f.Path), Bytes: text, Mode: f.Mode | 0o400})
		}
	}
	return packed, nil
}

// ReadBundle reads what Pack wrote to BundlePath.
func ReadBundle(text []byte) (Bundle, error) {
	var b Bundle
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&b); err != nil {
		return b, fmt.Errorf("read %s: %w", BundlePath, err)
	}
	if b.Version != bundleVersion {
		return b, fmt.Errorf("read %s: it has version %d, want %d\nhint: use the ufbuild that started the attempt", BundlePath, b.Version, bundleVersion)
	}
	return b, nil
}
