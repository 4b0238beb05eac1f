// Package launch starts programs. A [Command] says which program runs, where, with which rights
// and environment, and which processes may stay.
//
// A first caller makes a [Launcher] with [New], once, and a Command for each program. There are
// four ways to run one:
//
//   - [Launcher.Run] waits for it and has its output, with standard error separate if
//     SplitStderr is set, or with the user's terminal;
//   - [Launcher.Start] leaves it to the jobs in the background;
//   - [Launcher.Open] gives pipes to talk with it, until it is closed;
//   - [Launcher.Attach] gives it streams of the caller, and their terminal.
//
// # Confined by default
//
// The zero Command is the model's: confined by the [Launcher]'s sandbox, with an environment
// that has no secrets and prevents prompts. The user's commands set Unconfined and Vars:
//
//	who asks             method  Unconfined  Vars   further
//	the model            Run                 Quiet  Rights or ReadOnly; Start in the background
//	the user, behind !   Run     yes         Quiet  Terminal
//	sandbox run          Attach              Usual  Rights, KillLeftovers
//	a hook               Run     yes         Usual  Input, SplitStderr, Timeout; or confined
//	the check            Run                 Quiet  KillLeftovers
//	a server on stdio    Open                Sealed Output has its standard error; or Unconfined
//	the user's editor    Open    yes         Usual  a companion that is a program
//	git of an install    Run     yes         Usual  SplitStderr, KillLeftovers, Timeout
//
// The user's editor, pager and notifier, and the rg of a search, are started without this
// package: they have all the user's rights.
//
// # One profile
//
// A confined command gets [Launcher.Profile] with its own Rights, and no other package
// makes a profile. Rights are real paths, so that a question shows the paths that are
// granted.
//
// # No processes remain
//
// Processes that a command of Run or Open has started end with it; only Jobs take over
// processes that outlive a command, until the Jobs are closed.
package launch
