// Package hook runs commands of the user's at certain events of a session: they
// see what is about to happen, and may add to it, change it, or keep it from
// happening.
//
// # Wrappers
//
// [Hooks] wraps what is there: [Hooks.Run] a Run, [Hooks.Generator] a Generator,
// [Hooks.Tools] a Toolset, [Hooks.Policy] a Policy and [Hooks.Approver] an Approver.
// The engine knows nothing of hooks. Where no hook is set for what a wrapper is about,
// it returns what it was given. A Generator is wrapped below the one that asks again:
// hooks see each attempt of a request.
//
// # The format is another program's
//
// What a hook reads and what is made of its answer are the Gemini CLI's, so that
// scripts work with both. There are four differences. A hook that ends with exit
// status 2 blocks, also if it prints nothing; stop_hook_active stays true until the
// prompt is over; where nobody can be asked, "ask" denies; and what AfterModel puts in
// the place of a piece of an answer is what the history holds.
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
