package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/internal/harmless"
)

// The kinds of receivers.
const (
	kindWebhook = "webhook"
	kindSlack   = "slack"
	kindGrafana = "grafana"
)

// format is how a kind of receiver is spoken to.
type format struct {
	write func(Message, Receiver) ([]byte, error)
	most  int                       // events in one message
	path  string                    // behind the address
	check func(answer []byte) error // whether a success is one; nil for any answer
}

var formats = map[string]format{
	kindWebhook: {write: webhook, most: 20},
	kindSlack:   {write: slack, most: 20},
	kindGrafana: {write: grafana, most: 1, path: "/api/annotations", check: isAnnotated},
}

const (
	exchangeLimit = 5 * time.Second
	longestAnswer = 4 << 10 // bytes that are read of an answer
	longestQuote  = 120     // bytes of it that are shown
	longestAsk    = time.Minute
)

// refusal is an exchange that failed.
type refusal struct {
	sentence string
	final    bool          // the same message would be refused again
	wait     time.Duration // that the receiver asks for, 0 for none
}

func (r *refusal) Error() string { return r.sentence }

// exchange sends one message; nil says that the receiver has it. A redirect is not followed: it would carry the
// secrets to another place.
func exchange(ctx context.Context, transport http.RoundTripper, r Receiver, m Message) error {
	f := formats[r.Kind]
	body, err := f.write(m, r)
	if err != nil {
		return &refusal{sentence: "the message cannot be written: " + err.Error(), final: true}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target(r, f).String(), bytes.NewReader(body))
	if err != nil {
		return &refusal{sentence: "its address cannot be used", final: true} // the error would repeat it
	}
	authorize(request, r)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return &refusal{sentence: transportSentence(ctx, r, err)}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return &refusal{sentence: transportSentence(ctx, r, err)}
	}
	return judge(r, f, response, answer)
}

// target is the address of an exchange.
func target(r Receiver, f format) *url.URL {
	u := *r.address
	if u.User = nil; f.path != "" {
		u = *u.JoinPath(f.path)
	}
	return &u
}

func authorize(request *http.Request, r Receiver) {
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "rewarm")
	if user := r.address.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
}

func transportSentence(ctx context.Context, r Receiver, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "it does not answer within " + exchangeLimit.String()
	}
	return "it cannot be reached: " + r.withoutSecrets(err.Error())
}

// judge says what an answer means.
func judge(r Receiver, f format, response *http.Response, answer []byte) error {
	status := response.StatusCode
	said := "it answers " + strconv.Itoa(status) + quoted(r.withoutSecrets(string(answer)))
	switch {
	case status >= 200 && status < 300:
		return unexpected(f, response, answer)
	case status >= 300 && status < 400:
		return &refusal{final: true, sentence: fmt.Sprintf(
			"it answers %d and redirects, which is not followed: give the address that it redirects to", status)}
	case status >= 500 || slices.Contains(passing, status):
		return &refusal{sentence: said, wait: retryAfter(response.Header.Get("Retry-After"))}
	}
	return &refusal{sentence: said, final: true}
}

// passing are refusals that another try may not get.
var passing = []int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}

// unexpected tells a success from the page of a proxy that stands between.
func unexpected(f format, response *http.Response, answer []byte) error {
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		return &refusal{sentence: "a page of HTML answers in its place"}
	}
	if f.check == nil {
		return nil
	}
	if err := f.check(answer); err != nil {
		return &refusal{sentence: err.Error()}
	}
	return nil
}

// retryAfter reads the seconds that a receiver asks to wait.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.Atoi(header)
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, 3600))*time.Second, longestAsk)
}

// withoutSecrets takes out what a server or a library echoes of the address and the token.
func (r Receiver) withoutSecrets(text string) string {
	secrets := []string{r.token, r.address.String(), r.address.RequestURI(), r.address.Path, r.address.RawQuery}
	if password, ok := r.address.User.Password(); ok {
		secrets = append(secrets, password)
	}
	for _, part := range strings.Split(r.address.Path, "/") {
		if len(part) > 7 { // words of a path, such as services, are none
			secrets = append(secrets, part)
		}
	}
	for _, secret := range secrets {
		if len(secret) > 1 {
			text = strings.ReplaceAll(text, secret, "[removed]")
		}
	}
	return text
}

// quoted is the beginning of an answer, on one line.
func quoted(answer string) string {
	text := strings.Join(strings.Fields(answer), " ")
	if text == "" {
		return ""
	}
	return ": " + strconv.Quote(harmless.Cut(text, longestQuote))
}
