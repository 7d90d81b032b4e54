package probes

// deep is about as many bytes of stack as decoding an answer takes.
const deep = 24 << 10

// growStack makes room at once on the stack of a new goroutine. Left to itself a stack
// grows by doubling, deep in the decoding, and is copied frame by frame every time.
//
//go:noinline
func growStack(at int) byte {
	var room [deep]byte
	return room[at]
}
