package journal

import "testing"

// Pieces wait in the queue for their commit, thousands of them.
func TestAPackedPieceTakesTheMemoryOfItsOwnBytesAndNoMore(t *testing.T) {
	t.Parallel()
	var p packer
	for range 3 { // the later ones find what the first one needed to pack
		raw := prose(64 << 10)
		if got := p.pack(raw); !got.packed || cap(got.data) > 2*len(got.data)+64 {
			t.Fatalf("%d bytes became %d, which hold on to %d", len(raw), len(got.data), cap(got.data))
		}
	}
}
