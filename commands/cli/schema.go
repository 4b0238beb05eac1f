package cli

import (
	"slices"
	"strings"

	"gemline/repl/schema"
	"gemline/settings"
)

// schemaCommand is gemline schema.
type schemaCommand struct {
	Name string `arg:"" optional:"" complete:"schema" help:"Such as events (the lines of stream-json), result (the document of json), batch (the lines of --batch) or settings."`
}

// settingsSchema is the name of the settings' schema, which is made from their table.
const settingsSchema = "settings"

// Run prints a schema, or the names of all schemas.
func (c *schemaCommand) Run(out *Output) error {
	names := append(schema.Names(), settingsSchema)
	slices.Sort(names)
	switch {
	case c.Name == "" && out.JSON:
		return out.document(map[string]any{"schemas": names})
	case c.Name == "":
		return out.lines(names)
	case c.Name == settingsSchema:
		return out.print(settings.Schema())
	}
	text, ok := schema.Text(c.Name)
	if !ok {
		return misused("there is no schema %.100q; there are %s",
			c.Name, strings.Join(names, ", "))
	}
	_, err := out.Out.Write(text)
	return err
}
