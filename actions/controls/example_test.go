package controls_test

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/rewarm/rewarm/actions/controls"
)

func ExampleReader() {
	server := miniredis.NewMiniRedis()
	defer server.Close()
	reader, err := controls.NewReader(controls.ReaderOptions{
		Service:  "catalog",
		URL:      "redis://controls:6379",
		Dial:     func(context.Context, string, string) (net.Conn, error) { return server.Dial() },
		Fallback: map[string]string{"origin.admission": "1600"},
		Absent:   map[string]string{"origin.admission": controls.Unlimited},
		Now:      time.Now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = reader.Close() }()
	show := func(when string) {
		limit, _ := reader.Number("origin.admission")
		fmt.Printf("%s: %v\n", when, limit)
	}

	show("before redis was reached")
	_ = reader.Refresh(context.Background())
	show("without a value")
	server.HSet(controls.Keys("catalog").Controls, "origin.admission", "3200")
	_ = reader.Refresh(context.Background())
	show("after an edit by hand")
	// Output:
	// before redis was reached: 1600
	// without a value: +Inf
	// after an edit by hand: 3200
}
