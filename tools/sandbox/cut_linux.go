package sandbox

import (
	"os/exec"
	"sync"
	"syscall"

	"gemline/tools/sandbox/stage"
)

// CutNetwork changes cmd, which is complete but not started, into one that has an empty network of
// its own, and all other rights that it would have.
func CutNetwork(cmd *exec.Cmd) error {
	if err := cuttable(); err != nil {
		return err
	}
	cut(cmd)
	return nil
}

func cut(cmd *exec.Cmd) {
	how := stage.HolderAttr() // with namespaces of users and of networks
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	to := cmd.SysProcAttr
	to.Cloneflags |= how.Cloneflags
	to.UidMappings, to.GidMappings, to.GidMappingsEnableSetgroups = how.UidMappings, how.GidMappings, how.GidMappingsEnableSetgroups
}

// cuttable says why this system has no such namespaces.
var cuttable = sync.OnceValue(func() error {
	cmd := exec.Command("/bin/sh", "-c", ":")
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cut(cmd)
	return cmd.Run()
})
