package commands

import (
	"context"
	"io"
	"slices"
	"strings"

	"gemline/commands/cli"
)

// subCommands pass their words on to sub-commands of the command line.
type subCommands struct {
	memory  memoryCommands
	out     io.Writer
	customs *Customs
	manage  func(ctx context.Context, args ...string) error
	permit  func(ctx context.Context, folder string) (string, error)
}

func (cmd subCommands) set() Set {
	return Set{
		cmd.relayed(Command{Name: "agents"}, nil),
		cmd.authentication(),
		cmd.extensions(),
		cmd.relayed(Command{Name: "hooks"}, nil),
		cmd.servers(),
		cmd.permissions(),
		cmd.relayed(Command{Name: "policies"}, nil),
		cmd.preferences(),
		cmd.relayed(Command{Name: "setup-github"}, nil),
		cmd.skills(),
		cmd.relayed(Command{Name: "trash"}, takes{"restore": discarded}),
	}
}

// takes holds parsers of the arguments of some sub-commands, by name.
type takes map[string]func(args string) (words []string, err error)

// relayed returns the slash command for the sub-command with c's name. The command itself runs its
// first sub-command, unless c has a Run.
func (cmd subCommands) relayed(c Command, take takes) *Command {
	s := cli.Session(c.Name)
	c.Aliases, c.Summary = s.Aliases, s.Summary
	for _, sub := range s.Sub {
		c.Sub = append(c.Sub, cmd.relay(sub, c.Name+" "+sub.Name, take[sub.Name]))
	}
	if c.Run == nil && len(c.Sub) > 0 {
		c.Run = c.Sub[0].Run
	} else if c.Run == nil {
		return cmd.relay(s, c.Name, nil)
	}
	return &c
}

// relay returns a command that passes the words behind it on to a sub-command.
func (cmd subCommands) relay(s cli.Slash, path string, take func(string) ([]string, error)) *Command {
	c := &Command{Name: s.Name, Aliases: s.Aliases, Args: s.Args, Summary: s.Summary, Words: true}
	if s.TakesKey {
		c.Complete = func(_ context.Context, before, _ string) []string {
			if before != "" && before[0] != '-' { // the key is the first word, or the first after flags
				return nil
			}
			return cli.SettingKeys()
		}
	}
	c.Run = func(ctx context.Context, args string) error {
		words := s.Take(args)
		if take != nil {
			var err error
			if words, err = take(args); err != nil {
				return err
			}
		}
		if len(words) < len(s.Required) {
			return misused("/%s needs %s", path, strings.Join(s.Required, " "))
		}
		return cmd.manage(ctx, slices.Concat(s.Words, words)...)
	}
	return c
}

func (cmd subCommands) authentication() *Command {
	// A mistaken word may be a key, so no error repeats it.
	none := func(args string) ([]string, error) {
		if args != "" {
			return nil, misused("/auth has status, use, signin and signout; none but use takes a word, and a key is never typed here")
		}
		return nil, nil
	}
	one := func(args string) ([]string, error) {
		words := strings.Fields(args)
		if len(words) != 1 {
			return nil, misused("which type? /auth use gemini-api-key, vertex-ai, gateway or compute-default-credentials")
		}
		return words, nil
	}
	c := cmd.relayed(Command{Name: "auth", Usual: true, Words: true},
		takes{"status": none, "use": one, "signin": none, "signout": none})
	for _, sub := range c.Sub {
		if sub.Name != "use" {
			sub.Args = ""
		}
	}
	return c
}

func (cmd subCommands) permissions() *Command {
	c := cmd.relayed(Command{Name: "permissions", Usual: true, Words: true}, nil)
	// A bare word is more likely a mistaken sub-command than a folder; the answer that it is
	// trusted would mislead.
	c.acceptOnly(func(args string) bool { return strings.ContainsAny(args, "/\\~.-") })
	c.Sub = slices.Insert(c.Sub, 1, &Command{Name: "trust", Args: "[FOLDER]",
		Summary: "ask about a folder, as at the start", Run: cmd.askPermit})
	return c
}

// acceptOnly makes c refuse words that are neither a sub-command nor accepted by mine.
func (c *Command) acceptOnly(mine func(args string) bool) {
	run := c.Run
	c.Run = func(ctx context.Context, args string) error {
		if args != "" && !mine(args) {
			return c.checkArgs(c.Name, args)
		}
		return run(ctx, args)
	}
}

func (cmd subCommands) skills() *Command {
	c := cmd.relayed(Command{Name: "skills", Words: true}, nil)
	c.acceptOnly(func(args string) bool {
		word, _, _ := strings.Cut(args, " ")
		return word[0] == '-' || slices.Contains([]string{"all", "desc", "nodesc"}, word)
	})
	return c
}

// askPermit asks about a folder.
func (cmd subCommands) askPermit(ctx context.Context, folder string) error {
	if cmd.permit == nil {
		return unavailable("nobody can be asked here; gemline trust add does the same")
	}
	said, err := cmd.permit(ctx, folder)
	if err != nil {
		return err
	}
	return sentences(cmd.out, said)
}

// servers is /mcp. A word that is no sub-command of it is a part of the names to list.
func (cmd subCommands) servers() *Command {
	c := cmd.relayed(Command{Name: "mcp", Args: "[NAME]"}, nil)
	list := c.Run
	with := func(flag string) func(context.Context, string) error {
		return func(ctx context.Context, args string) error { return list(ctx, flag+" "+args) }
	}
	c.Sub = append(c.Sub,
		&Command{Name: "desc", Aliases: []string{"description"}, Args: "[NAME]", Run: with("--desc"),
			Summary: "list the servers, with descriptions"},
		&Command{Name: "schema", Args: "[NAME]", Run: with("--schema"),
			Summary: "list the servers, with the parameters of their tools"})
	return c
}

func (cmd subCommands) extensions() *Command {
	c := cmd.relayed(Command{Name: "extensions", Words: true}, nil)
	c.acceptOnly(func(args string) bool { return args[0] == '-' })
	c.Sub = append(c.Sub, &Command{Name: "reload", Aliases: []string{"restart"}, Run: cmd.reloadExtensions,
		Summary: "read the commands, skills, agents and context files of extensions again"})
	return c
}

// reloadExtensions reads again the parts of extensions that a running session can change.
func (cmd subCommands) reloadExtensions(ctx context.Context, _ string) error {
	cmd.customs.Library.Forget()
	cmd.customs.report("")
	for _, command := range []string{"skills", "agents"} {
		if err := cmd.manage(ctx, command, "reload"); err != nil {
			return err
		}
	}
	if err := cmd.memory.refreshMemory(ctx, ""); err != nil {
		return err
	}
	return sentences(cmd.out, "Hooks, rules and MCP servers of extensions count from the next start on.")
}

func (cmd subCommands) preferences() *Command {
	return cmd.relayed(Command{Name: "settings", Usual: true,
		Run: func(ctx context.Context, _ string) error {
			if err := cmd.manage(ctx, "config", "list"); err != nil {
				return err
			}
			return sentences(cmd.out, "/settings set KEY VALUE changes one; /settings list --all names every key, with its default")
		}}, nil)
}
