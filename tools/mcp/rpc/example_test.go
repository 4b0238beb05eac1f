package rpc_test

import (
	"context"
	"fmt"
	"net"

	"gemline/tools/mcp/rpc"
)

// Two programs talk over a pipe, and either may ask.
func Example() {
	here, there := net.Pipe()
	server := rpc.New(rpc.Lines(there, there, there.Close), rpc.Handler{ServerSide: true,
		Request: func(_ context.Context, m *rpc.Message) (any, error) {
			if m.Method != "tools/list" {
				return nil, rpc.Errorf(-32601, "method not found")
			}
			return map[string]any{"tools": []string{"weather"}}, nil
		}})
	client := rpc.New(rpc.Lines(here, here, here.Close), rpc.Handler{})
	var said struct{ Tools []string }
	err := client.Call(context.Background(), "tools/list", nil, &said)
	fmt.Println(said.Tools, err)
	fmt.Println(client.Call(context.Background(), "tools/eat", nil, nil))
	client.Close()
	server.Close()
	// Output:
	// [weather] <nil>
	// method not found (-32601)
}
