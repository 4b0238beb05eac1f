//go:build linux

package mcp

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	et "gemline/engine/enginetest"
)

// pidsFile is the variable that says where the test's program notes what it has started.
const pidsFile = "GEMLINE_TEST_PIDS"

// breed starts two processes that live on, one of them in a session of its own.
func breed() {
	f, err := os.OpenFile(os.Getenv(pidsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for _, apart := range []bool{false, true} {
		cmd := exec.Command("sleep", "1000")
		cmd.Stderr, cmd.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Setsid: apart}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(f, cmd.Process.Pid)
	}
}

// alive returns which processes there are.
func alive(pids []string) (list []string) {
	for _, pid := range pids {
		if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !bytes.Contains(stat, []byte(") Z ")) {
			list = append(list, pid)
		}
	}
	return list
}

// What a server that crashes has started does not outlive it, and what one has started that is
// left ends with it.
func TestCrashLeavesNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pids")
	server := self(t, "evil", "breeding")
	server.Env[pidsFile] = file
	s, _ := set(t, server)
	noted := func(n int) (pids []string) {
		t.Helper()
		et.Eventually(t, fmt.Sprint(n, " processes"), func() bool {
			b, _ := os.ReadFile(file)
			pids = strings.Fields(string(b))
			return len(pids) == n
		})
		return pids
	}
	first := noted(2)
	if left := alive(first); len(left) != 2 {
		t.Fatalf("of %v there are %v", first, left)
	}
	if _, err := call(t, s.Tools(Callbacks{}), &desk{}, "mcp_evil_exit", map[string]any{}); err == nil || !strings.Contains(err.Error(), "exit code 7") {
		t.Fatal(err)
	}
	et.Eventually(t, "what it had started is gone", func() bool { return len(alive(first)) == 0 })
	second := noted(4)[2:] // it is there again
	s.Close()
	if left := alive(second); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
