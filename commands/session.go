package commands

import (
	"context"
	"io"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine/lists"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/repl/input"
)

// sessionCommands are about the current session.
type sessionCommands struct {
	c        *Conversation
	out      io.Writer
	compress func(ctx context.Context, keep string) error
	detach   func() error
	discard  func()
	restart  func(context.Context) (*Conversation, error)
}

func (cmd sessionCommands) set() Set {
	return Set{
		{Name: "about", Summary: "version, model, session and where things are", Run: cmd.about},
		{Name: "clear", Usual: true, Aliases: []string{"new"}, Run: cmd.clear,
			Summary: "forget the conversation and start another session"},
		{Name: "compress", Usual: true, Aliases: []string{"summarize", "compact"}, Args: "[WHAT TO KEEP]", Run: cmd.shorten,
			Summary: "sum up the oldest part of the conversation, and go on"},
		{Name: "detach", Run: cmd.leave,
			Summary: "leave this terminal, and have the session go on until gemline attach comes back to it"},
		cmd.modes(),
		{Name: "quit", Usual: true, Aliases: []string{"exit"}, Args: "[" + discard + "]", Run: cmd.quit,
			Summary: "leave; --delete deletes the session", Complete: words(discard)},
		cmd.stats(),
		{Name: "todos", Summary: "the model's todo list, and how far it is", Run: cmd.todos},
	}
}

func (cmd sessionCommands) about(_ context.Context, _ string) error {
	return sentences(cmd.out, lists.Map(cmd.c.About(), func(f Property) string { return f.Name + ": " + f.Value })...)
}

func (cmd sessionCommands) clear(ctx context.Context, _ string) error {
	if cmd.restart == nil {
		return unavailable("/clear works in a session only")
	}
	next, err := cmd.restart(ctx)
	if err != nil {
		return err
	}
	*cmd.c = *next
	return sentences(cmd.out, "A new session begins. The last session is stored.")
}

func (cmd sessionCommands) shorten(ctx context.Context, keep string) error {
	if cmd.compress == nil {
		return unavailable("there is no conversation to compress here")
	}
	return cmd.compress(ctx, keep)
}

func (cmd sessionCommands) modes() *Command {
	names := lists.Map(policy.Modes[:], func(m policy.Mode) string { return string(m) })
	return &Command{Name: "mode", Usual: true, Args: "[" + strings.Join(names, "|") + "]",
		Summary:  "say or change what runs unasked",
		Complete: words(names...),
		Run: func(_ context.Context, word string) error {
			said, err := cmd.c.Mode(word)
			if err != nil {
				return err
			}
			return sentences(cmd.out, said)
		}}
}

func (cmd answerCommands) plan(ctx context.Context, _, said string) ([]*genai.Part, error) {
	plan, err := cmd.c.Plan()
	if err != nil {
		return nil, err
	}
	switch said {
	case "copy":
		return nil, cmd.copyText(ctx, plan.Text, "there is no plan to copy yet; /plan TEXT asks for one")
	case "on", "off", "exit", "leave", "stop", "end", "quit", "show", "list": // no task for a model
		return nil, misused("/plan takes a task, copy or nothing, not %q; /mode default leaves plan mode", said)
	}
	mode, err := cmd.c.Mode("plan")
	if err == nil && (said == "" || cmd.restart != nil) { // otherwise the answer is all there is to print
		err = sentences(cmd.out, mode)
	}
	if err != nil {
		return nil, err
	}
	if said != "" {
		return []*genai.Part{genai.NewPartFromText(said)}, nil
	}
	if plan.Path == "" {
		return nil, sentences(cmd.out, "there is no plan yet; /plan TEXT asks for one")
	}
	return nil, sentences(cmd.out, "plan ("+plan.State()+"): "+text.PrintableLine(plan.Path),
		strings.TrimSpace(plan.Text))
}

// State says in one or two words whether the plan was approved.
func (p Plan) State() string {
	if p.Approved {
		return "approved"
	}
	return "not approved yet"
}

func (cmd sessionCommands) stats() *Command {
	show := func(of func() []string) func(context.Context, string) error {
		return func(_ context.Context, _ string) error {
			return sentences(cmd.out, of()...)
		}
	}
	session := show(func() []string { return cmd.c.Tally.Overview(time.Now()) })
	return &Command{Name: "stats", Usual: true, Aliases: []string{"usage"},
		Summary: "the session's actions and use", Run: session, Sub: Set{
			{Name: "session", Summary: "the session's actions and use", Run: session},
			{Name: "model", Summary: "requests, tokens and times of each model", Run: show(func() []string { return cmd.c.Tally.Models() })},
			{Name: "tools", Summary: "calls and times of each tool", Run: show(func() []string { return cmd.c.Tally.Tools() })},
		}}
}

func (cmd sessionCommands) todos(_ context.Context, _ string) error {
	ls := cmd.c.Todos()
	if len(ls) == 0 {
		ls = []string{"there is no todo list"}
	}
	return sentences(cmd.out, ls...)
}

func (cmd sessionCommands) leave(_ context.Context, _ string) error {
	if cmd.detach == nil {
		return errNoScreen
	}
	return cmd.detach()
}

// discard is the argument with which /quit deletes the session.
const discard = "--delete"

func (cmd sessionCommands) quit(_ context.Context, word string) error {
	switch {
	case word == discard && cmd.discard != nil:
		cmd.discard()
	case word == discard:
		return unavailable("there is no session to delete here")
	case word != "":
		return misused("/quit takes %s or nothing", discard)
	}
	return input.ErrQuit
}
