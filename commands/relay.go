package commands

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// A relay is what runs a sub-command of the command line in the place of a slash
// command: its words, and what becomes of those that are typed behind it. Nil
// passes them on as they are.
type relay struct {
	name, aliases, args, summary string
	words                        string // behind gemline and its command, "" for the name
	take                         func(args string) ([]string, error)
}

// relayed returns the slash command for gemline command, which itself does what the
// first of subs does.
func relayed(c Command, command string, subs ...relay) *Command {
	for _, r := range subs {
		word, take := r.name, r.take
		if r.words != "" {
			word = r.words
		}
		if take == nil {
			take = func(args string) ([]string, error) { return strings.Fields(args), nil }
		}
		c.Sub = append(c.Sub, &Command{Name: r.name, Aliases: strings.Fields(r.aliases),
			Args: r.args, Summary: r.summary, Words: true,
			Run: func(ctx context.Context, app *App, args string) error {
				words, err := take(args)
				if err == nil && args == "" && r.args != "" && !strings.HasPrefix(r.args, "[") {
					err = misused("/%s %s needs %s", c.Name, r.name, r.args)
				}
				if err != nil {
					return err
				}
				return app.Manage(ctx, append([]string{command, word}, words...)...)
			}})
	}
	if c.Run == nil {
		c.Run = c.Sub[0].Run
	}
	return &c
}

func authentication() *Command {
	// What a mistaken word is may be a key, so none is repeated.
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
	return relayed(Command{Name: "auth", Usual: true, Words: true, Summary: "how you sign in"}, "auth",
		relay{name: "status", summary: "say which credentials the next request uses", take: none},
		relay{name: "use", args: "TYPE", summary: "choose gemini-api-key, vertex-ai, gateway or compute-default-credentials in your settings", take: one},
		relay{name: "signin", aliases: "login set-key", summary: "store an API key that is typed unseen", words: "set-key", take: none},
		relay{name: "signout", aliases: "logout", summary: "forget the stored key and what was chosen", take: none})
}

func permissions() *Command {
	c := relayed(Command{Name: "permissions", Usual: true, Words: true,
		Summary: "say whether this folder is trusted"}, "trust",
		relay{name: "status", args: "[FOLDER]", summary: "say whether a folder is trusted, and what it brings", take: folder},
		relay{name: "list", summary: "list the folders that you have decided about", take: folder},
		relay{name: "add", args: "[--parent] [FOLDER]", summary: "trust a folder, from the next start on", take: folder},
		relay{name: "deny", args: "[FOLDER]", summary: "don't trust it", take: folder},
		relay{name: "remove", args: "[FOLDER]", summary: "forget what you have decided about it", take: folder})
	status := c.Run
	c.Run = func(ctx context.Context, app *App, args string) error {
		// A bare word is a mistaken sub-command sooner than a folder, and that it
		// is trusted would be no answer.
		if args != "" && !strings.ContainsAny(args, "/\\~.-") {
			return c.wants(args)
		}
		return status(ctx, app, args)
	}
	c.Sub = slices.Insert(c.Sub, 1, &Command{Name: "trust", Args: "[FOLDER]",
		Summary: "ask about a folder, as at the start", Run: permit})
	return c
}

// folder takes what stands behind the flags for the name of one folder.
func folder(args string) (words []string, err error) {
	for strings.HasPrefix(args, "--") {
		var flag string
		flag, args, _ = strings.Cut(args, " ")
		words = append(words, flag)
	}
	if args != "" {
		words = append(words, "--", args)
	}
	return words, nil
}

// permit asks about a folder.
func permit(ctx context.Context, app *App, folder string) error {
	if app.Permit == nil {
		return unavailable("nobody can be asked here; gemline trust add does the same")
	}
	said, err := app.Permit(ctx, folder)
	if err != nil {
		return err
	}
	return sentences(app.Out, said)
}

func hooks() *Command {
	return relayed(Command{Name: "hooks", Summary: "commands that run at events of a session"}, "hooks",
		relay{name: "panel", aliases: "list show", words: "list", summary: "the hooks that are set, and which of them run"},
		relay{name: "enable", args: "NAME", summary: "switch a hook on again", take: oneWord},
		relay{name: "disable", args: "NAME", summary: "switch a hook off", take: oneWord},
		relay{name: "enable-all", aliases: "enableall", summary: "switch all hooks on"},
		relay{name: "disable-all", aliases: "disableall", summary: "switch all hooks off"},
		relay{name: "test", args: "EVENT", summary: "run the hooks of an event with a made-up input"})
}

func agents() *Command {
	return relayed(Command{Name: "agents", Summary: "the agents that the model may call; @NAME asks it to"}, "agents",
		relay{name: "list", summary: "the agents, and who brings them"},
		relay{name: "show", args: "NAME", summary: "what one is", take: oneWord},
		relay{name: "reload", aliases: "refresh", summary: "read their files again"},
		relay{name: "enable", args: "NAME", summary: "switch an agent on again", take: oneWord},
		relay{name: "disable", args: "NAME", summary: "switch an agent off", take: oneWord},
		relay{name: "config", args: "NAME [KEY VALUE]", summary: "what the settings change in one"})
}

// servers is /mcp. A word that is none of its own is a part of the names to list.
func servers() *Command {
	all := func(flag string) func(string) ([]string, error) {
		return func(args string) ([]string, error) {
			words := strings.Fields(args)
			if flag != "" {
				words = append(words, flag)
			}
			return words, nil
		}
	}
	c := relayed(Command{Name: "mcp", Summary: "the MCP servers, and what they have"}, "mcp",
		relay{name: "list", aliases: "ls nodesc nodescription", args: "[NAME]", summary: "the servers, and what they have", take: all("")},
		relay{name: "desc", aliases: "description", words: "list", args: "[NAME]", summary: "the same, with descriptions", take: all("--desc")},
		relay{name: "schema", words: "list", args: "[NAME]", summary: "the same, with the parameters of tools", take: all("--schema")},
		relay{name: "auth", args: "[NAME]", summary: "log in to a server, or list those that take a log-in"},
		relay{name: "reload", aliases: "refresh", summary: "connect to the servers anew"},
		relay{name: "enable", args: "NAME", summary: "switch a server on again; --session for this session only"},
		relay{name: "disable", args: "NAME", summary: "switch a server off; --session for this session only"})
	c.Args = "[NAME]"
	return c
}

func extensions() *Command {
	c := relayed(Command{Name: "extensions", Aliases: []string{"extension"}, Words: true,
		Summary: "the extensions that are installed"}, "extensions",
		relay{name: "list", summary: "list them"},
		relay{name: "install", args: "SOURCE", summary: "install one from a git repository, a release or a folder"},
		relay{name: "link", args: "PATH", summary: "use one in the folder where it is written"},
		relay{name: "update", args: "[NAME] [--all] [--check]", summary: "bring one, or all, to the newest version"},
		relay{name: "uninstall", aliases: "delete", args: "NAME", summary: "delete one, with all that was kept for it"},
		relay{name: "enable", args: "NAME", summary: "switch one on; --scope workspace in this folder"},
		relay{name: "disable", args: "NAME", summary: "switch one off; --scope workspace in this folder"},
		relay{name: "config", args: "[NAME]", summary: "say what extensions want to know"})
	c.Sub = append(c.Sub, &Command{Name: "reload", Aliases: []string{"restart"}, Run: reloadExtensions,
		Summary: "read the commands, skills, agents and context files of extensions again"})
	return c
}

// reloadExtensions reads again what extensions bring and a session can take up.
func reloadExtensions(ctx context.Context, app *App, _ string) error {
	app.Customs.Forget()
	app.Customs.tell()
	for _, command := range []string{"skills", "agents"} {
		if err := app.Manage(ctx, command, "reload"); err != nil {
			return err
		}
	}
	if err := refreshMemory(ctx, app, ""); err != nil {
		return err
	}
	return sentences(app.Out, "Hooks, rules and MCP servers of extensions count from the next start on.")
}

func skills() *Command {
	return relayed(Command{Name: "skills", Words: true, Summary: "the skills, which teach the model a task"}, "skills",
		relay{name: "list", args: "[all] [nodesc]", summary: "list them; all names those that come with gemline, too"},
		relay{name: "reload", aliases: "refresh", summary: "read their files again"},
		relay{name: "enable", args: "NAME", summary: "switch a skill on again"},
		relay{name: "disable", args: "NAME", summary: "switch a skill off, in the project's settings; --scope user in yours"},
		relay{name: "link", args: "PATH [--scope user|workspace]",
			summary: "use skills in the folder where they are written"})
}

func policies() *Command {
	return relayed(Command{Name: "policies", Summary: "the rules that say what runs unasked"}, "policy",
		relay{name: "list", summary: "the rules, the strongest first"},
		relay{name: "test", args: "COMMAND", summary: "say whether a shell command would run, be asked about or be denied", take: oneWord},
		relay{name: "explain", args: "TOOL [JSON]", summary: "the same for a call of a tool, and which rules match it", take: toolCall},
		relay{name: "revoke", args: "[FILE:LINE]",
			summary: "list what you have allowed for good, and how to take it back", take: oneWord})
}

func workflows() *Command {
	return &Command{Name: "setup-github", Args: "[--yes]",
		Summary: "write the workflows in which the Gemini CLI works for a repository on GitHub; asks first",
		Run: func(ctx context.Context, app *App, args string) error {
			return app.Manage(ctx, append([]string{"setup-github"}, strings.Fields(args)...)...)
		}}
}

// oneWord takes all words for one.
func oneWord(args string) ([]string, error) {
	if args == "" {
		return nil, nil
	}
	return []string{"--", args}, nil
}

// toolCall takes the first word for a tool, and all others for its arguments.
func toolCall(args string) ([]string, error) {
	name, rest, more := strings.Cut(args, " ")
	words, err := oneWord(name)
	if more {
		words = append(words, rest)
	}
	return words, err
}

func preferences() *Command {
	return relayed(Command{Name: "settings", Usual: true, Aliases: []string{"config"},
		Summary: "what is set; /settings set KEY VALUE changes it",
		Run: func(ctx context.Context, app *App, _ string) error {
			if err := app.Manage(ctx, "config", "list"); err != nil {
				return err
			}
			return sentences(app.Out, "/settings set KEY VALUE changes one; /settings list --all names every key, with its default")
		}}, "config",
		relay{name: "list", args: "[--origin] [--all]", summary: "what is set, and where"},
		relay{name: "get", args: "[--origin] KEY", summary: "the value of a key"},
		relay{name: "set", args: "[--scope=workspace] KEY VALUE", summary: "change a key, from the next start on", take: setting},
		relay{name: "unset", args: "[--scope=workspace] KEY", summary: "take a key out of a file"},
		relay{name: "path", summary: "where the files are"},
		relay{name: "validate", summary: "check the files for mistakes"})
}

// setting takes all words between the key and the flags, if there are any, for the
// value; quotation marks around it may be left out.
func setting(args string) ([]string, error) {
	words := strings.Fields(args)
	from, to := 0, len(words)
	for from < to && strings.HasPrefix(words[from], "--") {
		if words[from] == "--scope" { // whose value is the next word
			from++
		}
		from++
	}
	for to > from {
		if last := words[to-1]; last == "--json" || strings.HasPrefix(last, "--scope=") {
			to--
		} else if to > from+1 && words[to-2] == "--scope" {
			to -= 2
		} else {
			break
		}
	}
	if to-from < 2 {
		return nil, misused("which key, and which value? /settings set KEY VALUE")
	}
	flags := slices.Concat(words[:from], words[to:])
	value := strings.Join(words[from+1:to], " ")
	var unquoted string
	if json.Unmarshal([]byte(value), &unquoted) == nil && value != "null" {
		value = unquoted
	}
	return append(flags, "--", words[from], value), nil
}
