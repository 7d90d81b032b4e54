package notify

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rewarm/rewarm/internal/harmless"
)

// slackMessage is what Slack's incoming webhooks take, and what is compatible with them. Nothing in the text is
// markup and no address in it is opened, whatever it quotes. The fields are those of
// https://docs.slack.dev/reference/methods/chat.postMessage/, of which a hook takes what
// https://docs.slack.dev/tools/node-slack-sdk/reference/webhook/interfaces/IncomingWebhookSendArguments names;
// mrkdwn and the escapes are of https://docs.slack.dev/messaging/formatting-message-text/.
type slackMessage struct {
	Text        string `json:"text"`
	Markdown    bool   `json:"mrkdwn"`
	LinkNames   bool   `json:"link_names"`
	UnfurlLinks bool   `json:"unfurl_links"`
	UnfurlMedia bool   `json:"unfurl_media"`
}

// longestLine bounds a line of a message, in bytes: Slack cuts a text behind 40,000 characters.
const longestLine = 500

// slack writes a line an event, between the run and its head.
func slack(m Message, _ Receiver) ([]byte, error) {
	lines := []string{runLine(m)}
	if m.LeftOut > 0 {
		lines = append(lines, fmt.Sprintf("(%d earlier events were left out: they did not get through)", m.LeftOut))
	}
	for _, e := range m.Events {
		lines = append(lines, e.At.Format("15:04:05Z")+"  "+e.Where+": "+e.Text)
		for _, detail := range e.Details {
			lines = append(lines, "        "+detail)
		}
	}
	lines = append(lines, headLine(m))
	for i, line := range lines {
		lines[i] = slackEscapes.Replace(harmless.Cut(line, longestLine))
	}
	return json.Marshal(slackMessage{Text: strings.Join(lines, "\n")})
}

// slackEscapes are Slack's own for what could begin a link or call people, and a word joiner behind an at sign:
// receivers that are only compatible call people by that.
var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@\u2060")

func runLine(m Message) string {
	line := m.Service + ", run " + m.Run
	if m.Lab {
		line += " (on the lab: every figure is a model's)"
	}
	return line
}

// headLine names the position of the last event, and the signed head that somebody may keep.
func headLine(m Message) string {
	last := m.Events[len(m.Events)-1].Head
	signed, by := readHead(m.SignedHead)
	switch signed {
	case "":
		return "record " + last
	case last:
		return "head " + last + by
	}
	return "record " + last + "; head " + signed + by
}
