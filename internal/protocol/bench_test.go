package protocol

import (
	"fmt"
	"hash"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/wire"
)

// noHash takes the place of SHA-256, to show what the rest costs.
type noHash struct{ hash.Hash }

func (noHash) Write(b []byte) (int, error) { return len(b), nil }
func (noHash) Sum(b []byte) []byte         { return append(b, make([]byte, 32)...) }
func (noHash) Reset()                      {}

// bodies are what results are made of: JSON within a text, as most tools
// answer; structured content; prose; and prose that is not ASCII.
var bodies = map[string]string{
	"text":    `{\"id\":\"cus_9s6XKzkNRiz8i3\",\"amount\":1250,\"currency\":\"usd\",\"paid\":true},\n`,
	"objects": `{"id":"cus_9s6XKzkNRiz8i3","amount":1250,"currency":"usd","paid":true},`,
	"numbers": `1250,17,3.14159,-2,[1,2],`,
	"prose":   `The customer asked for a refund of the last order, which had come too late. `,
	"foreign": `客户要求退还最后一笔订单的款项，因为它来得太晚了。`,
}

func benchLine(body string, size int) []byte {
	head, tail := `{"jsonrpc":"2.0","id":4711,"result":{"content":[{"type":"text","text":"`, `"}],"isError":false}}`+"\n"
	if body[0] == '{' && body[1] == '"' || body[0] == '1' {
		head, tail = `{"jsonrpc":"2.0","id":4711,"result":{"structuredContent":[`, `0],"isError":false}}`+"\n"
	}
	n := max(1, (size-len(head)-len(tail))/len(body))
	return []byte(head + strings.Repeat(body, n) + tail)
}

func BenchmarkReader(b *testing.B) {
	for _, name := range []string{"text", "objects", "numbers", "prose", "foreign"} {
		for _, size := range []int{200, 1 << 10, 64 << 10, 8 << 20} {
			for _, hashed := range []bool{true, false} {
				line := benchLine(bodies[name], size)
				b.Run(fmt.Sprintf("%s/%d/hash=%v", name, size, hashed), func(b *testing.B) {
					r := NewReader(wire.FromServer, func(m *Message) {
						if m.Kind != Response {
							b.Fatal(sketch(m))
						}
					})
					if !hashed {
						r.hash = noHash{}
					}
					b.SetBytes(int64(len(line)))
					b.ReportAllocs()
					for b.Loop() {
						for rest := line; len(rest) > 0; {
							n := min(len(rest), 64<<10)
							r.Feed(rest[:n], 1)
							rest = rest[n:]
						}
					}
				})
			}
		}
	}
}

// BenchmarkRequest reads calls, whose arguments are digested, and takes them
// down with their answers, to show what pairing costs.
func BenchmarkRequest(b *testing.B) {
	for _, size := range []int{0, 64 << 10} {
		arguments := strings.Repeat("x", size)
		ask := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund","arguments":{"a":"` + arguments + `"}}}` + "\n")
		tell := []byte(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}` + "\n")
		for _, paired := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/paired=%v", size, paired), func(b *testing.B) {
				calls := NewCalls()
				client := NewReader(wire.FromClient, func(m *Message) {
					if paired {
						calls.Begin("", m, 1)
					}
				})
				server := NewReader(wire.FromServer, func(m *Message) {
					if paired && calls.Answer("", m).Call == nil {
						b.Fatal("the answer was not found to belong to the call")
					}
				})
				client.SkipHash()
				server.SkipHash()
				b.SetBytes(int64(len(ask) + len(tell)))
				b.ReportAllocs()
				for b.Loop() {
					client.Feed(ask, 1)
					server.Feed(tell, 2)
				}
			})
		}
	}
}
