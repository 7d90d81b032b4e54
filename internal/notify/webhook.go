package notify

import "encoding/json"

// webhook writes a message as it is.
func webhook(m Message, _ Receiver) ([]byte, error) { return json.Marshal(m) }
