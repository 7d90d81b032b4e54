package controls

import (
	"context"
	"fmt"
)

// firstAnswer asks all addresses at once and gives the first answer: one that hangs must not
// keep those waiting that another one can serve. When none has an answer, the errors come in
// the order of the addresses.
func firstAnswer(
	ctx context.Context, addrs []string, ask func(ctx context.Context, addr string) (string, error),
) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		of     int
		answer string
		err    error
	}
	results := make(chan result, len(addrs))
	for i, addr := range addrs {
		go func() {
			answer, err := ask(ctx, addr)
			results <- result{i, answer, err}
		}()
	}
	errs := make([]error, len(addrs))
	for range addrs {
		r := <-results
		if r.err == nil {
			return r.answer, nil
		}
		errs[r.of] = fmt.Errorf("%s: %w", addrs[r.of], r.err)
	}
	all := errs[0]
	for _, err := range errs[1:] {
		all = fmt.Errorf("%w; %w", all, err)
	}
	return "", all
}
