package project

import (
	"fmt"
	"strings"

	"gemline/settings"
	"gemline/tools/shell"
)

// learnSettings registers secrets in the user's settings, found by their names or form: values of
// variables, headers and flags, and parts of addresses. Values that may be ordinary words are
// redacted only in stored texts.
func learnSettings(o *Options) {
	learn := func(name, value string) {
		words := strings.Fields(value) // for example Bearer and a token
		if len(words) == 0 {
			return
		}
		switch value = words[len(words)-1]; {
		case shell.IsUnusual(value):
			o.Secrets.Add(name, value)
		case shell.IsDistinct(value):
			o.Secrets.AddStored(name, value)
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			for _, part := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("/?&=", r) }) {
				if shell.IsSecret("", part) {
					learn("", part)
				}
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, item := range v {
				given, _ := item.(map[string]any)
				if key != "env" && key != "headers" {
					walk(item)
					continue
				}
				for name, value := range given {
					name = strings.ReplaceAll(name, "-", "_")
					if text := fmt.Sprint(value); len(shell.Withheld([]string{name + "=" + text}, shellSettings(o))) > 0 {
						learn(name, text)
					}
				}
			}
		}
	}
	servers := []any{o.userSettings.Merged["mcpServers"]}
	for name := range overrides(o.userSettings) {
		servers = append(servers, settings.In[any](overrides(o.userSettings), name, "mcpServers"))
	}
	for _, all := range append(servers, o.userSettings.Merged["hooks"]) {
		walk(all)
		settings.EachHidden(all, learn)
	}
}

// Redacting returns a function that passes a text to tell without secrets.
func (o *Options) Redacting(tell func(string)) func(string) {
	return func(text string) { tell(o.Secrets.Text(text)) }
}
