package actions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

const (
	mostOutput  = 4 << 10         // bytes of a call's output that are kept
	killedAfter = 2 * time.Second // for what a killed call leaves behind holding its output
)

// CallOutcome is what became of a call.
type CallOutcome struct {
	OK     bool
	Exit   int    // of a command; -1 when it did not end by itself or never started
	Status int    // of an HTTP answer; 0 without one
	Output string // printable, cut after 4 KiB
	Err    string // why it is not OK, "" when it is
}

// RunCall runs a command or asks an HTTP service, once. A command is an argument
// vector that no shell sees; it runs in a process group of its own, which is
// killed when the time is over or ctx ends, and reads nothing. An HTTP answer is
// OK when its status is 2xx; redirections are not followed.
func RunCall(ctx context.Context, clock Clock, inv runbook.Invocation, timeout time.Duration) CallOutcome {
	ctx, cancel := clock.Deadline(ctx, timeout)
	defer cancel()
	var o CallOutcome
	switch {
	case len(inv.Args) > 0:
		o = runCommand(ctx, inv.Args)
	case inv.URL != "":
		o = askService(ctx, inv)
	default:
		o = CallOutcome{Exit: -1, Err: "there is nothing to call"}
	}
	if !o.OK && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		o.Err = fmt.Sprintf("it was not done after %s; what it did until then is not known", timeout)
	}
	return o
}

func runCommand(ctx context.Context, args []string) CallOutcome {
	var out head
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = killedAfter
	ownGroup(cmd)
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well, only something it started still holds its output
	}
	o := CallOutcome{OK: err == nil, Exit: -1, Output: out.String()}
	if cmd.ProcessState != nil {
		o.Exit = cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.Is(ctx.Err(), context.Canceled):
		o.Err = "it was interrupted; what it did until then is not known"
	case errors.As(err, &exit):
		o.Err = fmt.Sprintf("%s ended with %s", printable(args[0]), exit.ProcessState)
	default:
		o.Err = fmt.Sprintf("%s could not be started: %s", printable(args[0]), reason(startError(err)))
	}
	return o
}

// startError leaves out what exec repeats of the command.
func startError(err error) error {
	var lookup *exec.Error
	var path *os.PathError
	switch {
	case errors.As(err, &lookup):
		return lookup.Err
	case errors.As(err, &path):
		return path.Err
	}
	return err
}

func askService(ctx context.Context, inv runbook.Invocation) CallOutcome {
	o := CallOutcome{Exit: -1}
	target := redacted(inv.URL)
	req, err := request(ctx, inv)
	if err != nil {
		o.Err = err.Error()
		return o
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		o.Err = fmt.Sprintf("%s %s gave no answer: %s", req.Method, target, reason(withoutURL(err)))
		return o
	}
	defer func() { _ = res.Body.Close() }()
	var out head
	_, err = io.Copy(&out, io.LimitReader(res.Body, mostOutput+1))
	o.Status, o.Output = res.StatusCode, out.String()
	o.OK = res.StatusCode/100 == 2 && err == nil
	if !o.OK {
		o.Err = fmt.Sprintf("%s %s answered %d", req.Method, target, res.StatusCode)
	}
	if err != nil {
		o.Err += ", and then not to its end: " + reason(withoutURL(err))
	}
	return o
}

func request(ctx context.Context, inv runbook.Invocation) (*http.Request, error) {
	var body []byte
	if inv.BodyFile != "" {
		var err error
		if body, err = os.ReadFile(inv.BodyFile); err != nil {
			return nil, fmt.Errorf("body_file cannot be read: %w", err)
		}
	}
	method := strings.ToUpper(inv.Method)
	if method == "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, inv.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be asked: %s", redacted(inv.URL), reason(withoutURL(err)))
	}
	return req, nil
}

// withoutURL takes the URL, which may hold secrets, out of an error.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// redacted shows a URL without user, password, query values and fragment.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "the URL"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	out := plain(shown.String(), false)
	if u.RawQuery != "" {
		out += "?…"
	}
	return out
}

// head keeps the beginning of what is written to it.
type head struct {
	kept bytes.Buffer
	cut  bool
}

// Write never fails, so that a talkative command is not stopped by its output.
func (h *head) Write(p []byte) (int, error) {
	room := mostOutput - h.kept.Len()
	if len(p) > room {
		h.cut = true
		h.kept.Write(p[:room])
		return len(p), nil
	}
	return h.kept.Write(p)
}

// String is printable: line ends stay, everything else that is not plain text
// is made visible.
func (h *head) String() string {
	text := plain(h.kept.String(), true)
	if h.cut {
		text += "… (cut)"
	}
	return strings.TrimRight(text, "\n")
}
