package project

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnce(t *testing.T) {
	home := t.TempDir()
	p := New(home, "", home)
	if !p.Once("question") || p.Once("question") || !p.Once("other") || New(home, "", home).Once("other") {
		t.Error("not once")
	}
	if (Paths{}).Once("question") {
		t.Error("without a home directory")
	}
	if err := os.WriteFile(filepath.Join(t.TempDir(), "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(home, "blocked")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if New(blocked, "", home).Once("question") {
		t.Error("where nothing can be kept")
	}
}
