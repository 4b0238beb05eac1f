package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"gemline/tools/web"
)

// A page is fetched from the public web alone, and where a name leads is looked at when
// the connection is made. For reading, it becomes Markdown.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<html><title>x</title><h1>Tides</h1><p>High at <b>noon</b>.</p></html>")
	}))
	defer server.Close()
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	cfg := web.Config{Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{at.Addr()}, nil // as a name server may say of any name
	}}
	u, err := web.Parse(fmt.Sprintf("HTTP://Tides.example:%d/today#noon", at.Port()))
	if err != nil {
		panic(err)
	}
	_, err = web.New(cfg).Fetch(context.Background(), u)
	if blocked, ok := errors.AsType[*web.BlockedError](err); ok {
		fmt.Println("blocked:", blocked.Why)
	}

	cfg.AllowPrivate = func(to netip.AddrPort) bool { return to == at }
	page, err := web.New(cfg).Fetch(context.Background(), u)
	if err != nil {
		panic(err)
	}
	text, err := page.Text()
	fmt.Println(page.URL.Path, page.Status, page.Media(), err)
	fmt.Println(text)
	// Output:
	// blocked: an address of this machine
	// /today 200 text/html <nil>
	// # Tides
	//
	// High at **noon**.
}
