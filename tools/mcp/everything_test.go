package mcp

import (
	"testing"
)

func TestEverything(t *testing.T) {
	s, said := set(t, Server{Name: "every", Command: append(npm(t, "server-everything"), "stdio")})
	st := s.Status()[0]
	t.Logf("%s %v %s %s %q", st.State, st.Err, st.Transport, st.Title, st.Instructions)
	t.Log(said.text())
	for _, x := range st.Tools {
		t.Log(x.Declared, string(x.Schema), x.Annotations)
	}
	for _, x := range st.Prompts {
		t.Log(x)
	}
	for _, x := range st.Resources {
		t.Log(x)
	}
	d := &desk{}
	r, err := call(t, s.Tools(Conversation{}), d, "mcp_every_echo", map[string]any{"message": "hi"})
	t.Log(r, err)
}
