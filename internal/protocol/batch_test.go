package protocol

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnElementOfABatchIsAMessageOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		want []string
	}{
		"each has its own bytes": {
			`[{"id":1,"method":"a"},{"method":"b"} , {"id":2,"result":{}}]`,
			[]string{
				`21+2 request id=1 method="a" InBatch`,
				`14+3 notification method="b" InBatch`,
				`20+2 response id=2 subject={} InBatch`,
			},
		},
		"one is enough": {`[{"id":1,"method":"a"}]`, []string{`21+3 request id=1 method="a" InBatch`}},
		"what is no object is noise, in one piece": {
			`[{"id":1,"method":"a"}, 1, "}", [{}] ,{"id":2,"method":"a"}]`,
			[]string{`21+3 request id=1 method="a" InBatch`, `14+0 noise NotJSON InBatch`, `21+2 request id=2 method="a" InBatch`},
		},
		"so it is at the beginning": {
			`[1,2, {"id":1,"method":"a"}]`,
			[]string{`6+0 noise NotJSON InBatch`, `21+2 request id=1 method="a" InBatch`},
		},
		"and at the end": {
			`[{"id":1,"method":"a"},true]`,
			[]string{`21+2 request id=1 method="a" InBatch`, `6+0 noise NotJSON InBatch`},
		},
		"what follows the batch is noise": {
			`[{"id":1,"method":"a"}] and more`,
			[]string{`21+3 request id=1 method="a" InBatch`, `9+0 noise NotJSON Trailing InBatch`},
		},
		"a batch that breaks off says so at its last element": {
			`[{"id":1,"method":"a"},{"id":2,"method":"b"}`,
			[]string{`21+2 request id=1 method="a" InBatch`, `21+1 request id=2 method="b" Malformed InBatch`},
		},
		"an element that breaks takes the rest": {
			`[{"id":1,"method":"a"},{"id":2 ? },{"id":3,"method":"b"}]`,
			[]string{`21+2 request id=1 method="a" InBatch`, `35+0 noise id=2 Malformed InBatch`},
		},
		"a comma too many is let pass": {`[{"id":1,"method":"a"},]`, []string{`21+4 request id=1 method="a" InBatch`}},
		"a byte order mark is told at the first": {
			"\xEF\xBB\xBF" + `[{"id":1,"method":"a"},{"id":2,"method":"a"}]`,
			[]string{`21+5 request id=1 method="a" BOM InBatch`, `21+2 request id=2 method="a" InBatch`},
		},
		"duplicate names are told where they are": {
			`[{"id":1,"id":1,"method":"a"},{"id":1,"method":"a"}]`,
			[]string{`28+2 request id=1 method="a" DuplicateKeys InBatch`, `21+2 request id=1 method="a" InBatch`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream := c.line + "\n"
			for _, size := range []int{len(stream), 1, 2, 3, 7} {
				messages := read(stream, size)
				var got []string
				for i, m := range messages {
					got = append(got, fmt.Sprintf("%d+%d %s", m.Bytes, m.Framing, sketch(m)))
					if m.Batch != i+1 {
						t.Errorf("element %d has place %d", i+1, m.Batch)
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("in pieces of %d (-want +got):\n%s", size, diff)
				}
				checkCoverage(t, stream, messages)
			}
		})
	}
}
