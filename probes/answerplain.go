package probes

import "bytes"

// plainVector reports whether a body is a vector with a value for each of its series, spelled
// as Prometheus does and with nothing else that would have to be looked at. Nearly all answers
// are, and to see so takes a fraction of the time that decoding takes. It never says yes of
// what checkQueryResult refuses; of the rest it knows nothing.
func plainVector(body []byte) bool {
	s := &plainScanner{bytes.TrimSuffix(body, []byte("\n"))}
	if !s.skip(`{"status":"success","data":{"resultType":"vector","result":[`) {
		return false
	}
	for first := true; !s.skip(`]}}`); first = false {
		if !first && !s.skip(`,`) || !s.sample() {
			return false
		}
	}
	return len(s.left) == 0
}

// plainScanner takes a body apart from its front.
type plainScanner struct{ left []byte }

func (s *plainScanner) skip(text string) bool {
	if len(s.left) < len(text) || string(s.left[:len(text)]) != text {
		return false
	}
	s.left = s.left[len(text):]
	return true
}

// sample takes {"metric":{…},"value":[TIME,"VALUE"]}.
func (s *plainScanner) sample() bool {
	return s.skip(`{"metric":{`) && s.labels() && s.skip(`,"value":[`) && s.time() && s.skip(`,`) &&
		s.text() > 0 && s.skip(`]}`)
}

func (s *plainScanner) labels() bool {
	for first := true; !s.skip(`}`); first = false {
		if !first && !s.skip(`,`) || s.text() < 0 || !s.skip(`:`) || s.text() < 0 {
			return false
		}
	}
	return true
}

// text takes a string without escapes and says how long it was; below 0 when there is none.
func (s *plainScanner) text() int {
	if !s.skip(`"`) {
		return -1
	}
	for i, c := range s.left {
		switch {
		case c == '"':
			s.left = s.left[i+1:]
			return i
		case c == '\\' || c < ' ' || c > '~':
			return -1
		}
	}
	return -1
}

// time takes a number that is not zero.
func (s *plainScanner) time() bool {
	n := 0
	for n < len(s.left) && '0' <= s.left[n] && s.left[n] <= '9' {
		n++
	}
	if n == 0 || s.left[0] == '0' {
		return false
	}
	s.left = s.left[n:]
	if !s.skip(`.`) {
		return true
	}
	fraction := len(s.left)
	s.left = bytes.TrimLeft(s.left, "0123456789")
	return len(s.left) < fraction
}
