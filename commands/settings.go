package commands

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/genai"
)

func preferences() *Command {
	return &Command{Name: "settings", Usual: true, Aliases: []string{"config"}, Summary: "what is set; /settings set KEY VALUE changes it", Run: configWords(""), Sub: Set{
		{Name: "list", Args: "[--origin] [--all]", Summary: "what is set, and where", Run: configWords("list")},
		{Name: "get", Args: "[--origin] KEY", Summary: "the value of a key", Run: configWords("get")},
		{Name: "set", Args: "[--scope=workspace] KEY VALUE", Summary: "change a key, from the next start on", Run: setKey},
		{Name: "unset", Args: "[--scope=workspace] KEY", Summary: "take a key out of a file", Run: configWords("unset")},
		{Name: "path", Summary: "where the files are", Run: configWords("path")},
		{Name: "validate", Summary: "check the files for mistakes", Run: configWords("validate")},
	}}
}

// configWords returns what runs a sub-command of gemline config. Without one
// it lists what is set and takes no words.
func configWords(verb string) func(context.Context, *App, string) ([]*genai.Part, error) {
	return func(ctx context.Context, app *App, args string) ([]*genai.Part, error) {
		words := strings.Fields(args)
		switch {
		case app.Manage == nil:
			return nil, outside("config")
		case verb == "" && len(words) > 0:
			return nil, preferences().wants(args)
		case verb == "":
			if err := app.Manage(ctx, "config", "list"); err != nil {
				return nil, err
			}
			return nil, sentences(app.Out, "/settings set KEY VALUE changes one; /settings list --all names every key, with its default")
		}
		return nil, app.Manage(ctx, append([]string{"config", verb}, words...)...)
	}
}

// setKey runs gemline config set. All words between the key and the flags, if
// there are any, are the value; quotation marks around it may be left out.
func setKey(ctx context.Context, app *App, args string) ([]*genai.Part, error) {
	flags, words := behind(strings.Fields(args))
	front, words := ahead(words)
	if len(words) < 2 {
		return nil, misused("which key, and which value? /settings set KEY VALUE")
	}
	if app.Manage == nil {
		return nil, outside("config")
	}
	value := strings.Join(words[1:], " ")
	var unquoted string
	if json.Unmarshal([]byte(value), &unquoted) == nil && value != "null" {
		value = unquoted
	}
	flags = append(front, flags...)
	return nil, app.Manage(ctx, append(append([]string{"config", "set"}, flags...), "--", words[0], value)...)
}

// ahead takes the flags from the front of words.
func ahead(words []string) (flags, rest []string) {
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		n := 1
		if words[0] == "--scope" {
			n = min(2, len(words))
		}
		flags, words = append(flags, words[:n]...), words[n:]
	}
	return flags, words
}

// behind takes the flags from the end of words.
func behind(words []string) (flags, rest []string) {
	for n := len(words); n > 0; n = len(words) {
		switch {
		case words[n-1] == "--json", strings.HasPrefix(words[n-1], "--scope="):
			flags, words = slices.Insert(flags, 0, words[n-1]), words[:n-1]
		case n > 1 && words[n-2] == "--scope":
			flags, words = slices.Insert(flags, 0, words[n-2:]...), words[:n-2]
		default:
			return flags, words
		}
	}
	return flags, nil
}
