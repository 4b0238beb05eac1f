//go:build linux

package protocol

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// A command asks the user of an editor as it would ask at a terminal, and those that are about
// a terminal, or would leave the session, are not for editors. What an editor asks for and
// can't have is told in the words of the protocol.
func TestACPCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"lib/one/SKILL.md": "---\nname: one\ndescription: first\n---\nDo it.\n"})
	link := "/skills link " + filepath.Join(dir, "lib")
	block := func(b editorStep) editorStep {
		return editorStep{"method": "session/prompt", "params": editorStep{"sessionId": "#1", "prompt": []editorStep{{"type": "text", "text": "look: "}, b}}}
	}
	s := et.NewServer()
	got := edited(t, s, dir, newSDK, editorStep{}, []editorStep{
		begun(dir),
		prompted(1, link, editorStep{"answers": []string{"reject_once"}}),
		prompted(1, link, editorStep{"answers": []string{"allow_once"}}),
		prompted(1, "/clear", nil),
		prompted(1, "/fork", nil),
		{"method": "session/set_mode", "params": editorStep{"sessionId": "#1", "modeId": "careful"}},
		{"method": "session/set_mode", "params": editorStep{"sessionId": "#1", "modeId": "autoEdit"}},
		{"method": "session/new", "params": editorStep{"cwd": filepath.Join(dir, "never"), "mcpServers": []any{}}},
		block(editorStep{"type": "image", "mimeType": "image/png", "data": "no base64!"}),
		block(editorStep{"type": "smell", "strength": 3}),
		prompted(1, "/quit", nil),
	})
	for _, c := range got[1].of("available_commands_update")[0].Commands {
		if slices.Contains([]string{"clear", "fork", "detach", "ide", "vim"}, c.Name) {
			t.Errorf("/%s is offered", c.Name)
		}
	}
	for i, want := range map[int]int{2: 1, 3: 1} {
		if len(got[i].Asked) != want || len(got[i].Asked) > 0 && len(got[i].Asked[0].Options) != 3 {
			t.Errorf("step %d: asked %+v", i, got[i].Asked)
		}
	}
	if at := filepath.Join(dir, "home", ".gemini", "skills"); len(list(t, at)) != 1 {
		t.Errorf("%s has %v", at, list(t, at))
	}
	for i, want := range map[int]string{4: "for the editor to begin", 5: "for the editor to begin", 11: "for the editor to end"} {
		if !strings.Contains(got[i].said(), want) || got[i].Result.Stop != "end_turn" {
			t.Errorf("step %d: %q, %+v", i, got[i].said(), got[i])
		}
	}
	for i, want := range map[int]string{6: `"careful"; there are: default, autoEdit`, 8: "never is not a folder", 9: "block 2 of the prompt: its data is no base64", 10: "block 2 of the prompt: its type"} {
		if e := got[i].Error; e == nil || e.Code != mcp.INVALID_PARAMS || !strings.Contains(e.Message, want) {
			t.Errorf("step %d: %+v", i, e)
		}
	}
	if m := got[7].of("current_mode_update"); len(m) != 1 || m[0].Mode != "autoEdit" {
		t.Errorf("%+v", got[7])
	}
}

// list returns the names in a folder.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// The servers that an editor names are used in its session, with the variables and headers
// that it gives, and not in another one; one that can't be started is told of, and the
// session goes on. When the editor is gone, so are they.
func TestACPServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"home/.gemini/settings.json": `{"mcp": {"connectSeconds": 120}}`}) // node may be slow
	node, everything := pt.Need(t, "node"), npmTest(t, "@modelcontextprotocol/server-everything")
	web := httptest.NewServer(headed())
	t.Cleanup(web.Close)
	named := editorStep{"method": "session/new", "until": "available_commands_update", "params": editorStep{"cwd": dir, "mcpServers": []any{
		editorStep{"name": "near", "command": node, "args": []string{filepath.Join(everything, "dist", "index.js"), "stdio"}, "env": []editorStep{{"name": "SPICE", "value": "pepper"}}},
		editorStep{"name": "far", "type": "http", "url": web.URL + "/mcp", "headers": []editorStep{{"name": "X-Spice", "value": "salt"}}},
		editorStep{"name": "broken", "command": "/nowhere/at/all", "args": []string{}, "env": []any{}},
	}}}
	s := et.NewServer(
		et.Says("", et.Call("1", "mcp_near_get-env"), et.Call("2", "mcp_far_spice")), et.Says("Tasted."), et.Says("Bland."))
	got := edited(t, s, dir, newSDK, editorStep{}, []editorStep{
		named, prompted(1, "taste", editorStep{"answers": []string{"allow_once", "allow_once"}}),
		begun(dir), prompted(3, "taste", nil),
	})
	if got[2].said() != "Tasted." || len(got[2].Asked) != 2 {
		t.Fatalf("%+v", got[2])
	}
	if title := got[2].Asked[0].Call.Title; !strings.Contains(title, "near") {
		t.Errorf("the question does not name the server: %q", title)
	}
	sent := pt.Streamed(s)
	for _, want := range []string{"pepper", "taste of salt"} {
		if !strings.Contains(string(sent[1].Body), want) {
			t.Errorf("no %s: %s", want, sent[1].Body)
		}
	}
	if strings.Contains(string(sent[2].Body), "mcp_near") {
		t.Error("the other session has the servers, too")
	}
	told := fmt.Sprint(got[1].text("agent_thought_chunk"), got[2].text("agent_thought_chunk"))
	if !strings.Contains(told, "broken") || !strings.Contains(told, "/nowhere/at/all") || strings.Contains(told, "fork/exec") {
		t.Errorf("of the broken server: %q", told)
	}
	if left := pt.Workers(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// headed is a server whose tool tells a header that it got.
func headed() http.Handler {
	s := server.NewMCPServer("far", "1")
	s.AddTool(mcp.NewTool("spice", mcp.WithDescription("tell the spice")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("a taste of " + r.Header.Get("X-Spice")), nil
	})
	return server.NewStreamableHTTPServer(s)
}
