package sandbox

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"gemline/tools/sandbox/stage"
)

// A loopback is a private network shared by commands: a user and a network namespace, which
// exist as long as their files are open.
type loopback struct {
	mu    sync.Mutex
	files []*os.File // of the user and the network namespace
}

// shared returns the files of the namespaces that commands share.
func (k *Kernel) shared() ([]*os.File, error) {
	l := &k.loopback
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files != nil {
		return l.files, nil
	}
	k.helper.Do(k.load)
	if k.helperErr != nil {
		return nil, k.helperErr
	}
	cmd := &exec.Cmd{Path: k.path, Args: []string{stage.ProgramName, stage.Holder, "-"}, SysProcAttr: stage.HolderAttr()}
	if k.program != nil {
		cmd.ExtraFiles, cmd.Path = []*os.File{k.program}, "/proc/self/fd/3"
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	hold, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := cmp.Or(errors.Join(err1, err2), cmd.Start()); err != nil {
		return nil, fmt.Errorf("share a loopback interface: %w", err)
	}
	var files []*os.File
	_, err := bufio.NewReader(out).ReadString('\n')
	for _, kind := range []string{"user", "net"} {
		var f *os.File
		if err == nil {
			if f, err = os.Open(fmt.Sprintf("/proc/%d/ns/%s", cmd.Process.Pid, kind)); err == nil {
				files = append(files, f)
			}
		}
	}
	hold.Close()
	cmd.Wait()
	if err != nil {
		for _, f := range files {
			f.Close()
		}
		return nil, fmt.Errorf("share a loopback interface: %w: %s", err, errs.Bytes())
	}
	l.files = files
	return files, nil
}

// close releases the namespaces. They exist until their last command ends.
func (l *loopback) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.files {
		f.Close()
	}
	l.files = nil
}
