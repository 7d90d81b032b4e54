//go:build unix

package actions

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the head of a process group, which is killed as a
// whole: a wrapper must not leave behind the tool that still changes things. It
// also keeps a Ctrl-C at our terminal away from it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
