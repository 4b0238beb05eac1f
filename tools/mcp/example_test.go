package mcp_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"gemline/tools/mcp"
	"gemline/tools/mcp/rpc"
)

// A server's tools are a Toolset as soon as it is connected.
func Example() {
	server := httptest.NewServer(&rpc.Host{Begin: func(s rpc.Stream) {
		go rpc.New(s, rpc.Handler{Request: func(_ context.Context, m *rpc.Message) (any, error) {
			if m.Method == "initialize" {
				return map[string]any{"protocolVersion": "2025-06-18", "serverInfo": map[string]string{"name": "sky", "version": "1"},
					"capabilities": map[string]any{"tools": map[string]any{}}}, nil
			}
			return map[string]any{"tools": []any{map[string]any{"name": "weather", "description": "Says the weather"}}}, nil
		}})
	}})
	defer server.Close()
	set := mcp.New(mcp.Config{Version: "1", Servers: []mcp.Server{{Name: "sky", URL: server.URL}}})
	defer set.Close()
	set.Start()
	fmt.Println(set.Wait(context.Background(), time.Minute), set.Status()[0].State)
	for _, t := range set.Tools(mcp.Callbacks{}).Tools() {
		fmt.Println(t.Name()+":", t.Declaration.Description)
	}
	// Output:
	// [] connected
	// mcp_sky_weather: Says the weather
}
