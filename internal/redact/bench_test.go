package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/redact"
)

// typical builds results as MCP servers send them, of about the given size:
// JSON in a text, plain JSON with structure, prose, source code, file lists.
func typical(kind string, size int) []byte {
	var row string
	switch kind {
	case "escaped":
		rows := strings.Repeat(`{"id": 4711, "name": "Blue widget, large", "url": "https://shop.acme.example/products/blue-widget?variant=42", "created_at": "2026-01-15T10:42:13Z", "tags": ["new", "sale"], "stock": 17},`+"\n", size/180+1)
		return []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":` + quote("["+strings.TrimSuffix(rows, ",\n")+"]") + `}],"isError":false}}`)
	case "structured":
		return []byte(`{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"rows":[` + strings.TrimSuffix(strings.Repeat(
			`{"id":4711,"name":"Blue widget, large","customer":"cus_Nffrfeufnv9","created":1705312345,"email":"jo@acme.example","amount":12999,"paid":true,"note":null},`, size/150+1), ",") + `]}}}`)
	case "prose":
		row = quote("The meeting is moved to Thursday, 15:30, room B-204; please bring the term sheet and the figures of the last quarter. Nobody expects a decision before the end of the month.\n")
	case "code":
		row = quote("func (s *Server) handle(w http.ResponseWriter, r *http.Request) {\n\tif r.Method != http.MethodPost {\n\t\thttp.Error(w, \"method not allowed\", http.StatusMethodNotAllowed)\n\t\treturn\n\t}\n\tname := r.URL.Query().Get(\"name\")\n}\n")
	case "files":
		row = quote("/home/aditi/projects/deed/internal/clientconfig/testdata/claude_desktop_config.windows.json\n/home/aditi/projects/deed/internal/journal/entry_test.go\n")
	case "base64":
		row = newMaker(3).letters(alphabets["b"], 4096)
		return []byte(`{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat(row, size/len(row)+1)[:size] + `"}]}`)
	}
	inner := strings.Trim(row, `"`)
	return []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat(inner, size/len(inner)+1) + `"}],"isError":false}}`)
}

func BenchmarkValue(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 1 << 20} {
		for _, kind := range []string{"escaped", "structured", "prose", "code", "files", "base64"} {
			raw := typical(kind, size)
			b.Run(fmt.Sprintf("%s/%dKiB", kind, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					if _, report := redact.Value(raw); report != nil {
						b.Fatalf("found %v", report)
					}
				}
			})
		}
	}
}

func BenchmarkValueWithSecrets(b *testing.B) {
	m := newMaker(4)
	var rows strings.Builder
	for range 100 {
		rows.WriteString(`{"name":"x","apiKey":"` + m.letters(alphabets["a"], 30) + `","url":"postgres://a:` + m.letters(alphabets["a"], 12) + `@h/d"},`)
	}
	raw := []byte("[" + strings.TrimSuffix(rows.String(), ",") + "]")
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, report := redact.Value(raw); report.Total() < 200 {
			b.Fatalf("found %v", report)
		}
	}
}
