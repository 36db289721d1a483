package krusty_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// block is the text of a block of a page, behind a line.
func block(t *testing.T, page, line, info string) string {
	t.Helper()
	_, behind, found := strings.Cut(page, line+"\n```"+info+"\n")
	text, _, closed := strings.Cut(behind, "\n```\n")
	if !found || !closed {
		t.Fatalf("the page has no block behind '%s'", line)
	}
	return text + "\n"
}

func TestTheProgramOfThePageRuns(t *testing.T) {
	content, err := os.ReadFile("../../../docs/embed/go.md")
	if err != nil {
		t.Skip("the pages are not here")
	}
	page := string(content)
	// Inside of this module, so that nothing must be fetched.
	directory, err := os.MkdirTemp(".", "page")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	program := block(t, page, "In `main.go`:", "go")
	if err := os.WriteFile(filepath.Join(directory, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("go", "run", "./"+directory).CombinedOutput()
	if want := block(t, page, "It prints:", "yaml"); err != nil || string(output) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, output, want)
	}
}

func TestThePageHasAllSettings(t *testing.T) {
	page, err := os.ReadFile("../../../docs/embed/go.md")
	if err != nil {
		t.Skip("the pages are not here")
	}
	options, err := os.ReadFile("options.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(options)) {
		head, isSetting := strings.CutPrefix(line, "func ")
		if name, _, _ := strings.Cut(head, "("); isSetting && strings.Contains(line, ") Setting {") &&
			!strings.Contains(string(page), "`"+name+"(") {
			t.Errorf("the page lacks %s", name)
		}
	}
}
