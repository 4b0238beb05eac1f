// Package hook runs commands of the user's at certain events of a session: they
// see the next step, and may add to it, change it, or keep it from
// happening. A first caller gives the hooks of [Parse] to [New].
//
// # Wrappers
//
// [Hooks] wraps what is there: [Hooks.Run] a Run, [Hooks.Generator] a Generator,
// [Hooks.Tools] a Toolset, [Hooks.Policy] a Policy and [Hooks.Approver] an Approver.
// The engine knows nothing of hooks. Without hooks for its events, a wrapper returns its
// argument. A Generator is wrapped below the Generator that repeats requests: hooks see each
// attempt.
//
// # The format is another program's
//
// The input of a hook and the meaning of its answer are the Gemini CLI's, so that scripts
// work with both programs. There are four differences. A hook that ends with exit status 2
// blocks, also if it prints nothing; stop_hook_active stays true until the prompt is over;
// where nobody can be asked, "ask" denies; and if AfterModel replaces a piece of an answer,
// the history holds the replacement.
//
// # A hook that fails is no answer
//
// A hook that can't be started, runs too long or is killed changes nothing: the run
// continues, and the user reads a line that names the hook.
//
// # Processes are somebody else's
//
// A [Runner] runs the commands: it decides which rights they have, and ends all of
// their processes. Their output is bounded and has no secrets in it.
package hook
