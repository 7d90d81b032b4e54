package demand

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object that keeps the order of its keys.
type object []member

type member struct {
	key   string
	value any
}

func (o object) with(figures ...Figure) object {
	for _, f := range figures {
		o = append(o, member{f.Key, f.Value})
	}
	return o
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// MarshalJSON writes the nine figures at the top, their units in their keys.
func (r Report) MarshalJSON() ([]byte, error) {
	o := object{}.with(r.Figures...)
	o = append(o, member{"key_risk", object{}.with(r.Risk.Figures()...)},
		member{"origin_curve", r.Inputs.Curve.Source()}, member{"states", r.States})
	if len(r.After) > 0 {
		o = append(o, member{"after", r.After})
	}
	return json.Marshal(append(o, member{"notes", append([]string{}, r.Notes...)}, member{"inputs", r.Inputs}))
}

// MarshalJSON writes the figures of the state and both answers.
func (c Check) MarshalJSON() ([]byte, error) {
	o := object{{"state", c.State.Mode}, {"share_ratio", c.State.Share}}.with(c.Figures...)
	return json.Marshal(append(o, member{"affordable", c.Affordable}, member{"answerable", c.Answerable},
		member{"admission", c.Admission}, member{"correctness", c.Correctness}))
}

// MarshalJSON writes the inputs with their units. A mechanism that is left out is 0.
func (in Inputs) MarshalJSON() ([]byte, error) {
	return json.Marshal(object{
		{"reads_per_second", in.Reads},
		{"hit_ratio", in.HitRatio},
		{"hot_key_share_ratio", in.HotShare},
		{"cell_share_ratio", in.CellShare},
		{"keys", in.Keys},
		{"knee_attempts_per_second", in.Knee},
		{"limit_attempts_per_second", in.Limit},
		{"processes", in.Processes},
		{"local_ttl_seconds", in.LocalTTL},
		{"coalescing_domains", in.Domains},
		{"soft_ttl_window_seconds", in.Window},
		{"miss_cost_seconds", in.MissCost},
		{"stale_window_seconds", in.StaleWindow},
	})
}
