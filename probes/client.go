package probes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
)

// Options says which Prometheus is asked, and how.
type Options struct {
	// URL is the part before /api/v1, with or without a path: http://host:9090/prom.
	// A user and password in it are used and never shown.
	URL string
	// ConfigFile names a file in Prometheus' own HTTP client format: TLS, basic
	// authentication, bearer tokens, OAuth, proxies, headers. Optional.
	ConfigFile string
	// Transport replaces the network; ConfigFile is then not read.
	Transport http.RoundTripper
}

// largestBody bounds what is read of one answer, in bytes.
const largestBody = 8 << 20

// client asks one Prometheus. POST with a fallback to GET, and the decoding of the
// envelope, are the library's; what an answer must look like to be believed is ours.
type client struct {
	api   v1.API
	shown string // the address for messages
}

// reply is what one query brought: samples, or a reason why there are none.
type reply struct {
	samples  []sample
	warnings []string // printable
	infos    []string // printable
	reason   Reason
	detail   string // printable
}

// sample is one series of a reply.
type sample struct {
	series    string // printable labels
	tag       string // its label of the name tagLabel
	value     float64
	raw       string
	histogram bool
}

// tagLabel names the label by which batched questions are told apart.
const tagLabel = "rewarm"

func newClient(o Options) (*client, error) {
	address, err := parseAddress(o.URL)
	if err != nil {
		return nil, err
	}
	httpClient, err := newHTTPClient(o)
	if err != nil {
		return nil, err
	}
	httpClient.Transport = boundedBodies{httpClient.Transport}
	inner, err := api.NewClient(api.Config{Address: address.String(), Client: httpClient})
	if err != nil {
		return nil, fmt.Errorf("prometheus address %s cannot be used", shownURL(address))
	}
	password, _ := address.User.Password()
	return &client{
		api:   v1.NewAPI(checkedClient{inner: inner, password: password}),
		shown: shownURL(address),
	}, nil
}

func newHTTPClient(o Options) (*http.Client, error) {
	if o.Transport != nil {
		return &http.Client{Transport: o.Transport}, nil
	}
	settings := &config.HTTPClientConfig{}
	*settings = config.DefaultHTTPClientConfig
	settings.ProxyFromEnvironment = true
	if o.ConfigFile != "" {
		var err error
		if settings, _, err = config.LoadHTTPConfigFile(o.ConfigFile); err != nil {
			return nil, configError(o.ConfigFile, err)
		}
	}
	made, err := config.NewClientFromConfig(*settings, "rewarm")
	if err != nil {
		return nil, configError(o.ConfigFile, err)
	}
	return made, nil
}

// quotedValue finds the values that the YAML reader repeats in its errors; they may be secrets.
var quotedValue = regexp.MustCompile("`[^`]*`?")

func configError(file string, err error) error {
	var missing *os.PathError
	if errors.As(err, &missing) {
		return fmt.Errorf("prometheus http settings: %s: %w", printable(missing.Path, longestText), missing.Err)
	}
	text := quotedValue.ReplaceAllString(err.Error(), "(value not shown)")
	return fmt.Errorf("prometheus http settings: %s: %s", printable(file, longestText), printable(text, longestText))
}

// query asks for an instant value at the moment at, or at the server's own present
// when at is zero. The server is told to give up after the timeout.
func (c *client) query(ctx context.Context, promql string, at time.Time, timeout time.Duration) reply {
	value, warnings, infos, err := c.api.Query(ctx, promql, at, v1.WithTimeout(timeout))
	r := reply{warnings: printableAll(warnings), infos: printableAll(infos)}
	if err != nil {
		r.reason, r.detail = c.explain(err, timeout)
		return r
	}
	switch v := value.(type) {
	case model.Vector:
		r.samples = vectorSamples(v)
	case *model.Scalar:
		r.samples = []sample{{series: "{}", value: float64(v.Value), raw: formatSample(float64(v.Value))}}
	default:
		r.reason, r.detail = WrongType, errWrongType.Error()
	}
	return r
}

func vectorSamples(v model.Vector) []sample {
	samples := make([]sample, 0, len(v))
	for _, s := range v {
		labels := make(map[string]string, len(s.Metric))
		for name, value := range s.Metric {
			labels[string(name)] = string(value)
		}
		samples = append(samples, sample{
			series:    seriesName(labels),
			tag:       labels[tagLabel],
			value:     float64(s.Value),
			raw:       formatSample(float64(s.Value)),
			histogram: s.Histogram != nil,
		})
	}
	return samples
}

// course asks for a query over a time, at equal steps.
func (c *client) course(ctx context.Context, promql string, from, to time.Time, step, timeout time.Duration) ([]CourseSeries, string) {
	value, _, _, err := c.api.QueryRange(ctx, promql, v1.Range{Start: from, End: to, Step: step}, v1.WithTimeout(timeout))
	if err != nil {
		_, detail := c.explain(err, timeout)
		return nil, detail
	}
	matrix, ok := value.(model.Matrix)
	if !ok {
		return nil, errWrongType.Error()
	}
	var list []CourseSeries
	for _, stream := range matrix {
		labels := make(map[string]string, len(stream.Metric))
		for name, value := range stream.Metric {
			labels[string(name)] = string(value)
		}
		series := CourseSeries{Series: seriesName(labels)}
		for _, pair := range stream.Values {
			series.Points = append(series.Points, CoursePoint{At: pair.Timestamp.Time().UTC(), Raw: formatSample(float64(pair.Value))})
		}
		list = append(list, series)
	}
	return list, ""
}

// formatSample writes a value as Prometheus does on the wire.
func formatSample(v float64) string {
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// rules lists the recording and alerting rules that the server evaluates.
func (c *client) rules(ctx context.Context, timeout time.Duration) ([]rule, error) {
	found, err := c.api.Rules(ctx, nil)
	if err != nil {
		_, detail := c.explain(err, timeout)
		return nil, errors.New(detail)
	}
	var rules []rule
	for _, group := range found.Groups {
		interval := seconds(group.Interval)
		for _, r := range group.Rules {
			switch r := r.(type) {
			case v1.RecordingRule:
				rules = append(rules, rule{name: r.Name, query: r.Query, interval: interval})
			case v1.AlertingRule:
				rules = append(rules, rule{name: r.Name, alert: true, query: r.Query, interval: interval, hold: seconds(r.Duration)})
			}
		}
	}
	return rules, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// explain turns an error of the library into a reason and a sentence.
func (c *client) explain(err error, timeout time.Duration) (Reason, string) {
	var own *badAnswer
	var said *v1.Error
	switch {
	case errors.As(err, &own):
		return own.reason, own.detail
	case errors.Is(err, context.DeadlineExceeded):
		return Transport, fmt.Sprintf("%s gave no answer within %s", c.shown, timeout)
	case errors.Is(err, context.Canceled):
		return Transport, "the question to " + c.shown + " was called off"
	case errors.As(err, &said) && said.Type == v1.ErrBadResponse:
		return Malformed, c.shown + " answered with something that is not the Prometheus API: " + printable(said.Msg, longestText)
	case errors.As(err, &said):
		return Rejected, c.shown + " refused the query: " + printable(said.Msg, longestText)
	}
	return Transport, c.shown + " cannot be reached: " + printable(bareReason(err), longestText)
}

// bareReason leaves the address out of an error of net/http: it may carry a token.
func bareReason(err error) string {
	var wrapped *url.Error
	for errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return err.Error()
}

// checkedClient looks at every answer before the library decodes it.
type checkedClient struct {
	inner    api.Client
	password string // of the address; never shown, even if a server repeats it
}

// URL asks Thanos and its kin not to leave parts out silently; Prometheus ignores it.
func (c checkedClient) URL(endpoint string, args map[string]string) *url.URL {
	u := c.inner.URL(endpoint, args)
	q := u.Query()
	q.Set("partial_response", "false")
	u.RawQuery = q.Encode()
	return u
}

// Do sends the request. The response is returned beside an error too, because the
// library falls back from POST to GET by its status.
func (c checkedClient) Do(ctx context.Context, req *http.Request) (*http.Response, []byte, error) {
	resp, body, err := c.inner.Do(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	if bad := inspect(req, resp, body); bad != nil {
		if c.password != "" {
			bad.detail = strings.ReplaceAll(bad.detail, c.password, "(password)")
		}
		return resp, body, bad
	}
	return resp, body, nil
}

// boundedBodies keeps an endless page from filling the memory.
type boundedBodies struct{ next http.RoundTripper }

func (b boundedBodies) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: largestBody}
	return resp, nil
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &badAnswer{Malformed, fmt.Sprintf("the answer is longer than %d MiB: ask for fewer series", largestBody>>20)}
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// envelope is what the API says of an answer beside its data.
type envelope struct {
	Status    string `json:"status"`
	ErrorType string `json:"errorType"`
	Error     string `json:"error"`
}
