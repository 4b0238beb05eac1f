package programtest

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"gemline/commands/program"
	"gemline/tools/sandbox"
)

// AsProgram names the variable that makes the test binary the program itself.
const AsProgram = "GEMLINE_AS_PROGRAM"

// Main runs the tests of a package from the top of the repository. The program is
// tested as a program: scripts and terminals run the test binary, which is the
// program where AsProgram is set.
func Main(m *testing.M) {
	if code, ok := sandbox.Init(os.Args, os.Stderr); ok {
		os.Exit(code) // this program confines its commands by starting itself
	}
	if os.Getenv("GEMLINE_TEST_STRAY") != "" {
		uuid.SetRand(strayWriter{rand.Reader})
	}
	if how := os.Getenv("GEMLINE_TEST_FAULT"); how != "" {
		uuid.SetRand(newFaultySource(rand.Reader, how))
	}
	if os.Getenv(AsProgram) != "" {
		day, _ := time.Parse(time.DateOnly, os.Getenv("GEMLINE_TEST_DAY")) // else before all days
		os.Exit(program.Main("dev", "", "", day))
	}
	if err := os.Chdir(top()); err != nil {
		panic(err)
	}
	// What is ignored here, as under nohup and in the background of a script,
	// would be ignored by every program that a test starts; what is caught is not.
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Exit(m.Run())
}

// top returns the top of the repository, which holds go.mod.
func top() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	panic("no go.mod above the working directory")
}

// faultySource is a source of random bytes that works so many times, and then panics
// or never returns. The program asks for such bytes all over the place: at the
// start of a session, for each message, and in a tool.
type faultySource struct {
	io.Reader
	left atomic.Int64
	how  string
}

// newFaultySource reads its faults from text such as "fall after 3".
func newFaultySource(r io.Reader, text string) *faultySource {
	f := &faultySource{Reader: r}
	var n int64
	if _, err := fmt.Sscanf(text, "%s after %d", &f.how, &n); err != nil {
		panic(err)
	}
	f.left.Store(n)
	return f
}

func (f *faultySource) Read(p []byte) (int, error) {
	if f.left.Add(-1) >= 0 {
		return f.Reader.Read(p)
	}
	if f.how == "hang" {
		select {}
	}
	panic("oh no\nwith a second line")
}
