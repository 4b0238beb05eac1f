package sandbox

import (
	"os/exec"
	"sync"
	"syscall"

	"gemline/tools/sandbox/stage"
)

// CutNetwork gives cmd, which is complete but not started, an empty network namespace, and
// keeps all its other rights.
func CutNetwork(cmd *exec.Cmd) error {
	if err := cuttable(); err != nil {
		return err
	}
	cut(cmd)
	return nil
}

func cut(cmd *exec.Cmd) {
	how := stage.HolderAttr() // with user and network namespaces
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	to := cmd.SysProcAttr
	to.Cloneflags |= how.Cloneflags
	to.UidMappings, to.GidMappings, to.GidMappingsEnableSetgroups = how.UidMappings, how.GidMappings, how.GidMappingsEnableSetgroups
}

// cuttable returns why this system has no such namespaces, nil if it has.
var cuttable = sync.OnceValue(func() error {
	cmd := exec.Command("/bin/sh", "-c", ":")
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cut(cmd)
	return cmd.Run()
})
