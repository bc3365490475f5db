package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const head = "contract C {\n address owner; uint256 x; mapping(address => uint256) b; address[] list;\n" +
	" modifier only() { require(msg.sender == owner); _; }\n"

func hunt(t *testing.T, category string, depth int, code string) []finding {
	t.Helper()
	p := &project{files: map[string][]string{}}
	p.add("C.sol", head+code+"\n}")
	found, err := find(p, category, depth)
	require.NoError(t, err)
	return found
}

// Each flaw is found, and is gone when the code is right.
func TestDetectors(t *testing.T) {
	for name, tt := range map[string]struct {
		category string
		depth    int
		bad      string
		good     string
		severity string
	}{
		"open setter":       {"access-control", 0, `function f(uint a) external { x = a; }`, `function f(uint a) external only { x = a; }`, "High"},
		"inline check":      {"access-control", 0, `function f() external { delete x; x = 1; }`, `function f() external { require(msg.sender == owner, "no"); x = 1; }`, "High"},
		"setter inside":     {"access-control", 1, `function f(uint a) external { _f(a); } function _f(uint a) internal { x = a; }`, `function f(uint a) external only { _f(a); } function _f(uint a) internal { x = a; }`, "High"},
		"own entry":         {"access-control", 0, `function f(address a) external { owner = a; }`, `function f(uint a) external { b[msg.sender] = a; }`, "High"},
		"late write":        {"reentrancy", 0, `function f() external { (bool ok, ) = msg.sender.call{value: 1}(""); b[msg.sender] = 0; }`, `function f() external { b[msg.sender] = 0; (bool ok, ) = msg.sender.call{value: 1}(""); }`, "High"},
		"locked":            {"reentrancy", 0, `function f() external { t.transfer(a, 1); x -= 1; }`, `function f() external nonReentrant { t.transfer(a, 1); x -= 1; }`, "High"},
		"late write inside": {"reentrancy", 1, `function f() external { t.transfer(a, 1); _f(); } function _f() internal { x -= 1; }`, `function f() external { _f(); t.transfer(a, 1); } function _f() internal { x -= 1; }`, "High"},
		"ignored":           {"unchecked-return", 0, `function f() external { t.transfer(a, 1); }`, `function f() external { require(t.transfer(a, 1)); }`, "Medium"},
		"rounding":          {"rounding", 0, `function previewMint(uint a) public view returns (uint) { return a * x / y; }`, `function previewMint(uint a) public view returns (uint) { return (a * x + y - 1) / y; }`, "Medium"},
		"rounding, down":    {"rounding", 0, `function previewRedeem(uint a) public view returns (uint) { return mulUp(a, x); }`, `function previewRedeem(uint a) public view returns (uint) { return mulDown(a, x); }`, "Medium"},
		"divide first":      {"arithmetic", 0, `function f() external { x = a / 10 * b; }`, `function f() external { x = a * b / 10; }`, "Low"},
		"divide by zero":    {"arithmetic", 0, `function f() external { x = a / list.length; }`, `function f() external { require(list.length > 0); x = a / list.length; }`, "Medium"},
		"endless":           {"denial", 0, `function f() external { for (uint i = 0; i < list.length; i++) { x += 1; } }`, `function f() external { for (uint i = 0; i < 10; i++) { x += 1; } }`, "Low"},
		"in a comment":      {"unchecked-return", 0, `function f() external { t.send(1); }`, "function f() external { // t.send(1);\n x = 1; /* t.send(1); */ s = \"t.send(1);\"; s = /* a */\"; t.send(1);\"; }", "Medium"},
	} {
		t.Run(name, func(t *testing.T) {
			found := hunt(t, tt.category, tt.depth, tt.bad)
			require.Len(t, found, 1)
			require.Equal(t, tt.severity, found[0].Severity)
			require.Equal(t, 4, found[0].Line)
			require.True(t, strings.HasPrefix(tt.bad, found[0].Evidence[:10]))
			require.Empty(t, hunt(t, tt.category, tt.depth, tt.good))
		})
	}
}

func TestDepthMatters(t *testing.T) {
	code := `function f(uint a) external { _f(a); } function _f(uint a) internal { x = a; }`
	require.Empty(t, hunt(t, "access-control", 0, code))
	require.Len(t, hunt(t, "access-control", 1, code), 1)
}

func TestOrdersComeFromThePrompt(t *testing.T) {
	orders := parseOrders("# T\n\n- Role: lens\n- Findings: a x\n- Findings: b y\n\n## Outputs\n\n- Role: other\n")
	require.Equal(t, []string{"lens"}, orders["Role"])
	require.Equal(t, []string{"a x", "b y"}, orders["Findings"])
	require.Equal(t, "T", title("\n# T\n# U\n"))
}

// The flaws that were planted in the example, by function.
func TestPlantedFlaws(t *testing.T) {
	p, err := readProject("../src")
	require.NoError(t, err)
	for category, want := range map[string][]string{
		"access-control":   {"Strategy.setBuffer", "Strategy.harvest", "Vault.setFee"},
		"reentrancy":       {"Strategy.claim", "Vault.deposit", "Vault.withdraw", "Vault.recall"},
		"rounding":         {"Vault.previewWithdraw"},
		"unchecked-return": {"Strategy.take", "Strategy.take", "Vault.lend"},
		"arithmetic":       {"Strategy.harvest", "Vault.fee"},
		"denial":           {"Strategy.harvest"},
	} {
		found, err := find(p, category, 1)
		require.NoError(t, err)
		var got []string
		for _, f := range found {
			got = append(got, f.Function)
			require.Contains(t, p.files[f.File][f.Line-1], f.Evidence)
		}
		require.Equal(t, want, got, category)
	}
}

func TestDedupeJoinsAndNumbers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	save := func(name string, fs ...finding) {
		b, err := json.Marshal(fs)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	f := func(line int, n string) finding {
		return finding{ID: "c/C.f/" + n, Category: "c", File: "a.sol", Line: line}
	}
	save("one", f(7, "1"))
	save("two", f(3, "1"), f(7, "2"))
	task := &task{orders: map[string][]string{"Findings": {"p#0 one", "p#1 two"}, "Write": {"out.json"}}}
	require.NoError(t, dedupe(task))
	var got []finding
	require.NoError(t, task.readJSON("out.json", &got))
	require.Len(t, got, 2)
	require.Equal(t, []string{"c/C.f/1", "c/C.f/2"}, []string{got[0].ID, got[1].ID})
	require.Equal(t, []string{"p#0", "p#1"}, got[1].SeenBy)
}
