// Package hook runs the user's commands at certain events of a session: they see the next step,
// and may add to it, change it or block it. A first caller gives the hooks of [Parse] to [New].
//
// # Wrappers
//
// [Hooks] wraps the parts of a conversation: [Hooks.Run] a Run, [Hooks.Generator] a Generator,
// [Hooks.Tools] a Toolset, [Hooks.Policy] a Policy and [Hooks.Approver] an Approver. The engine
// knows nothing of hooks. Without hooks for its events, a wrapper returns its argument. A
// Generator is wrapped below the Generator that repeats requests: hooks see each attempt.
//
// # The format is the Gemini CLI's
//
// The input of a hook and the meaning of its answer are the Gemini CLI's, so that scripts
// work with both programs. There are four differences. A hook that ends with exit status 2
// blocks, also if it prints nothing; stop_hook_active stays true until the prompt is over;
// where nobody can be asked, "ask" denies; and if AfterModel replaces a piece of an answer,
// the history holds the replacement.
//
// # A failed hook has no answer
//
// A hook that can't be started, runs too long or is killed changes nothing: the run
// continues, and the user reads a line that names the hook.
//
// # The Runner owns the processes
//
// A [Runner] runs the commands: it decides which rights they have, and ends all of
// their processes. Their output is bounded and has no secrets in it.
package hook
