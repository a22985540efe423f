package verdict

import "testing"

// The case of these benchmarks is the refund of three facts.

func BenchmarkCaseDigest(b *testing.B) {
	c := refundCase(b)
	b.ReportAllocs()
	for b.Loop() {
		c.Digest()
	}
}

func BenchmarkCaseAppendJSON(b *testing.B) {
	c := refundCase(b)
	room := make([]byte, 0, 2*usualSize)
	b.ReportAllocs()
	for b.Loop() {
		c.AppendJSON(room)
	}
}

// Without the text, as it is digested.
func BenchmarkCaseAppendForDigest(b *testing.B) {
	c := refundCase(b)
	room := make([]byte, 0, 2*usualSize)
	b.ReportAllocs()
	for b.Loop() {
		c.append(room, false)
	}
}

func BenchmarkDecodeCase(b *testing.B) {
	text := refundCase(b).AppendJSON(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeCase(text); err != nil {
			b.Fatal(err)
		}
	}
}
