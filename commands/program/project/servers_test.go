package project

import (
	"reflect"
	"testing"

	"gemline/settings"
)

// What the user's settings and an extension say of one server both hold, by either name of a tool.
func TestUserSettingsOfAnExtensionsServer(t *testing.T) {
	brought := settings.Server{Name: "s", Command: "c", Include: []string{"read", "mcp_s_write", "delete"}}
	got := withUserSettings(brought, settings.Server{Name: "s", Include: []string{"mcp_s_read", "write"}, Off: true})
	if want := []string{"read", "mcp_s_write"}; !reflect.DeepEqual(got.Include, want) || !got.Off || got.Command != "c" {
		t.Errorf("%+v", got)
	}
}
