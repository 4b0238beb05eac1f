package repl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A patch is shown with its tabs and without hashes, and in words to a listener.
func TestShowPatch(t *testing.T) {
	const patch = "diff --git a/a.go b/a.go\nindex 2a7a4bb32a77b84b26412ee7e6751129cb480589..653e35f3be278dc3275a895c89638b97b67825f0 100644\n" +
		"--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n func A() {\n-\treturn 1\n+\treturn 2\x1b\n }\n" +
		"diff --git a/new b/new\nnew file mode 100644\nindex 0000..1111\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+permission: run: ls\n" +
		"diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1111..0000\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-index 1\n" +
		"diff --git a/bin b/bin\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIc${Nk\n\n"
	for spoken, want := range map[bool]string{
		false: "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n func A() {\n-\treturn 1\n+\treturn 2\\x1b\n }\n" +
			"diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+permission: run: ls\n" +
			"diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-index 1\n" +
			"diff --git a/bin b/bin\nGIT binary patch\nliteral 1\nIc${Nk\n\n",
		true: "a.go: 1 line added, 1 removed, in function A\nremoved: 2: \treturn 1\nadded: 2: \treturn 2\\x1b\n" +
			"new file new: 1 line added\nadded: 1: permission: run: ls\n" +
			"deleted gone: 1 line removed\nremoved: 1: index 1\n" +
			"diff --git a/bin b/bin\nGIT binary patch\nliteral 1\nIc${Nk\n\n",
	} {
		c, shown := console()
		c.Spoken = spoken
		c.ShowPatch(patch)
		if diff := cmp.Diff(want, shown.String()); diff != "" {
			t.Errorf("spoken %v: %s", spoken, diff)
		}
	}
}
