package otlp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"gemline/engine/telemetry"
	"gemline/engine/telemetry/otlp"
)

func Example() {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("Content-Type"))
	}))
	defer collector.Close()
	c, err := otlp.New(otlp.Config{Endpoint: collector.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	err = c.Export(context.Background(), &telemetry.Batch{Events: []telemetry.Event{{Body: "Session began."}}})
	fmt.Println(err)
	// Output:
	// POST /v1/logs application/x-protobuf
	// <nil>
}
