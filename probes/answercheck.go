package probes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// badAnswer is an answer that must not be believed, with the reason and a printable sentence.
type badAnswer struct {
	reason Reason
	detail string
}

func (b *badAnswer) Error() string { return b.detail }

// inspect finds what is wrong with an answer, or nil.
func inspect(req *http.Request, resp *http.Response, body []byte) *badAnswer {
	final := resp.Request
	if final == nil {
		final = req
	}
	if final.Method != req.Method {
		return &badAnswer{Transport, fmt.Sprintf("%s redirects to %s in a way that drops the query: give the final address instead",
			shownURL(req.URL), shownURL(final.URL))}
	}
	if resp.StatusCode/100 != 2 {
		return statusProblem(req, final, resp, body)
	}
	if isHTML(resp, body) {
		return &badAnswer{Malformed, "got HTML from " + shownURL(final.URL) + movedFrom(req, final) +
			", probably a login page or a wrong url"}
	}
	if !strings.HasSuffix(req.URL.Path, "/query") || plainVector(body) {
		return nil
	}
	if err := checkQueryResult(body); errors.Is(err, errWrongType) {
		return &badAnswer{WrongType, err.Error()}
	} else if err != nil {
		return &badAnswer{Malformed, fmt.Sprintf("%s did not answer as the Prometheus API does: %s: %s",
			shownURL(final.URL), err, snippet(body))}
	}
	return nil
}

func isHTML(resp *http.Response, body []byte) bool {
	return strings.Contains(resp.Header.Get("Content-Type"), "html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// snippet is the beginning of a body as one short printable line.
func snippet(body []byte) string {
	if len(bytes.TrimSpace(body)) == 0 {
		return "the body is empty"
	}
	const enough = 80
	return `it begins "` + printable(string(body[:min(len(body), 4*enough)]), enough) + `"`
}

func movedFrom(req, final *http.Request) string {
	if final.URL.Host == req.URL.Host {
		return ""
	}
	return " (redirected from " + shownURL(req.URL) + ")"
}

// statusProblem explains an answer that is not 2xx. What Prometheus itself says in
// JSON comes first; a page of a proxy is named, never repeated.
func statusProblem(req, final *http.Request, resp *http.Response, body []byte) *badAnswer {
	if said, ok := apiError(body); ok {
		return said.problem(shownURL(final.URL), resp.StatusCode)
	}
	text := fmt.Sprintf("%s answered %d %s%s", shownURL(final.URL), resp.StatusCode,
		strings.ToLower(http.StatusText(resp.StatusCode)), movedFrom(req, final))
	if final.URL.Host != req.URL.Host && (resp.StatusCode == http.StatusUnauthorized ||
		resp.StatusCode == http.StatusForbidden) {
		return &badAnswer{Transport, text + ": a redirect to another host does not carry the credentials along, give the final address instead"}
	}
	return &badAnswer{Transport, text + statusAdvice(resp.StatusCode)}
}

func statusAdvice(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return ": credentials are missing or wrong, see --prometheus-config"
	case http.StatusForbidden:
		return ": these credentials may not ask"
	case http.StatusNotFound:
		return ": the address must be the part before /api/v1, with its path prefix if it has one"
	case http.StatusTooManyRequests:
		return ": too many questions, a proxy limits their rate"
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ": there is a proxy, but no ready Prometheus behind it"
	}
	return ""
}

// apiError reads the error that Prometheus puts into a JSON body.
func apiError(body []byte) (envelope, bool) {
	var e envelope
	if json.Unmarshal(body, &e) != nil || e.Status != "error" || e.Error == "" {
		return envelope{}, false
	}
	return e, true
}

// problem tells a refusal of the query from a server that could not answer in time.
func (e envelope) problem(at string, status int) *badAnswer {
	text := printable(e.Error, longestText)
	switch {
	case e.ErrorType == "timeout" || e.ErrorType == "canceled":
		return &badAnswer{Transport, at + " gave the query up: " + text}
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		return &badAnswer{Rejected, at + " refused the query: " + text}
	}
	return &badAnswer{Transport, fmt.Sprintf("%s answered %d: %s", at, status, text)}
}

var errWrongType = errors.New("the result is not one number for each series")

// checkQueryResult refuses what the library would read as the number 0: a result that
// is missing, or a sample without its value.
func checkQueryResult(body []byte) error {
	var answer struct {
		Status string `json:"status"`
		Data   *struct {
			ResultType string          `json:"resultType"`
			Result     json.RawMessage `json:"result"`
		} `json:"data"`
	}
	err := json.Unmarshal(body, &answer)
	var otherKind *json.UnmarshalTypeError
	switch {
	case err != nil && !errors.As(err, &otherKind):
		return errors.New("it is not JSON")
	case answer.Status == "error":
		return nil // the library reports it
	case err != nil || answer.Status != "success" || answer.Data == nil:
		return errors.New("there is no result")
	}
	switch answer.Data.ResultType {
	case "vector":
		return checkVector(answer.Data.Result)
	case "scalar":
		return checkScalar(answer.Data.Result)
	case "matrix", "string":
		return fmt.Errorf("%w but a %s", errWrongType, answer.Data.ResultType)
	}
	return errors.New("the result has no known type")
}

func checkVector(result []byte) error {
	var samples []struct {
		Value     any             `json:"value"`
		Histogram json.RawMessage `json:"histogram"`
	}
	if json.Unmarshal(result, &samples) != nil {
		return errors.New("the vector is not a list of samples")
	}
	for _, s := range samples {
		if len(s.Histogram) > 0 {
			continue
		}
		if err := checkPair(s.Value); err != nil {
			return err
		}
	}
	return nil
}

func checkScalar(result []byte) error {
	var pair any
	if json.Unmarshal(result, &pair) != nil {
		return errNoValue
	}
	return checkPair(pair)
}

var errNoValue = errors.New("a sample has no value")

// checkPair wants [time, "value"] with a time that is not zero.
func checkPair(decoded any) error {
	pair, _ := decoded.([]any)
	if len(pair) != 2 {
		return errNoValue
	}
	if value, _ := pair[1].(string); value == "" {
		return errNoValue
	}
	if at, _ := pair[0].(float64); at == 0 {
		return errors.New("a sample has no time")
	}
	return nil
}
