package wire

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAnswersJoinTheStreamOnlyBetweenLines(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		steps []string // "w:" the server writes, "a:" an answer comes, "e" the server ends
		want  string
		drop  int64
	}{
		"before the server wrote anything":         {[]string{"a:A\n"}, "A\n", 0},
		"after a whole line":                       {[]string{"w:one\n", "a:A\n", "w:two\n"}, "one\nA\ntwo\n", 0},
		"amid a line it waits":                     {[]string{"w:on", "a:A\n"}, "on", 0},
		"until the line is over":                   {[]string{"w:on", "a:A\n", "w:e\n"}, "one\nA\n", 0},
		"and goes behind the first end in a chunk": {[]string{"w:on", "a:A\n", "w:e\ntwo\nth", "w:ree\n"}, "one\nA\ntwo\nthree\n", 0},
		"through chunks without an end":            {[]string{"w:o", "a:A\n", "w:n", "w:e", "w:\n"}, "one\nA\n", 0},
		"several keep their order":                 {[]string{"w:o", "a:A\n", "a:B\n", "w:ne\n", "a:C\n"}, "one\nA\nB\nC\n", 0},
		"after the server ended at a boundary":     {[]string{"w:one\n", "e", "a:A\n"}, "one\nA\n", 0},
		"dropped when it ended amid a line":        {[]string{"w:on", "e", "a:AB\n"}, "on", 3},
		"dropped when that line never ends":        {[]string{"w:on", "a:AB\n", "e"}, "on", 3},
		"an answer without a line end gets one":    {[]string{"a:A", "w:one\n"}, "A\none\n", 0},
		"an empty answer adds nothing":             {[]string{"a:", "w:one\n"}, "one\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var client bytes.Buffer
			injector := NewInjector(&client)
			for _, step := range test.steps {
				kind, text, _ := strings.Cut(step, ":")
				switch kind {
				case "w":
					if n, err := io.WriteString(injector, text); n != len(text) || err != nil {
						t.Errorf("write %q: %d, %v", text, n, err)
					}
				case "a":
					injector.Answer([]byte(text))
				case "e":
					injector.end()
				}
			}
			if diff := cmp.Diff(test.want, client.String()); diff != "" {
				t.Errorf("the client got (-want +got):\n%s", diff)
			}
			if injector.Dropped() != test.drop {
				t.Errorf("%d bytes were dropped, want %d", injector.Dropped(), test.drop)
			}
		})
	}
}

func TestAnAnswerToAClientThatIsGoneIsDroppedAndCounted(t *testing.T) {
	t.Parallel()
	injector := NewInjector(writerFunc(func(p []byte) (int, error) { return 1, syscall.EPIPE }))
	injector.Answer([]byte("lost\n"))
	injector.Answer([]byte("too\n"))
	if injector.Dropped() != 8 || injector.Injected() != 1 {
		t.Errorf("%d dropped and %d injected, want 8 and 1", injector.Dropped(), injector.Injected())
	}
	if n, err := io.WriteString(injector, "server\n"); n != 0 || err == nil {
		t.Errorf("the server's write took %d, %v", n, err)
	}
}

func TestAnswersBeyondTheBoundWaitForTheLineToEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var client bytes.Buffer
		injector := NewInjector(&client)
		_, _ = io.WriteString(injector, "amid ")
		answered := false
		go func() {
			injector.Answer(append(bytes.Repeat([]byte("x"), maxQueuedAnswers), '\n'))
			answered = true
		}()
		synctest.Wait()
		if answered {
			t.Error("an unbounded queue: the answer should have waited")
		}
		_, _ = io.WriteString(injector, "a line\n")
		synctest.Wait()
		if !answered || client.Len() != len("amid a line\n")+maxQueuedAnswers+1 {
			t.Errorf("answered %v, and the client has %d bytes", answered, client.Len())
		}
	})
}

// Whatever the server writes and whoever answers at the same time, the client
// reads whole lines: the server's in order, the answers in order.
func TestAnswersNeverTearALine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stream := rapid.StringMatching(`(s[a-c]{0,5}\n){0,20}`).Draw(t, "server")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 10).Draw(t, "chunk sizes")
		answers := rapid.SliceOfN(rapid.StringMatching(`A[a-c]{0,5}\n`), 0, 10).Draw(t, "answers")

		var client bytes.Buffer
		injector := NewInjector(&client)
		var group sync.WaitGroup
		group.Go(func() {
			rest := stream
			for i := 0; len(rest) > 0; i++ {
				n := min(sizes[i%len(sizes)], len(rest))
				_, _ = io.WriteString(injector, rest[:n])
				rest = rest[n:]
			}
			injector.end()
		})
		group.Go(func() {
			for _, answer := range answers {
				injector.Answer([]byte(answer))
			}
		})
		group.Wait()

		var fromServer, ours []string
		for line := range strings.Lines(client.String()) {
			if strings.HasPrefix(line, "A") {
				ours = append(ours, line)
			} else {
				fromServer = append(fromServer, line)
			}
		}
		if strings.Join(fromServer, "") != stream || !slices.Equal(ours, append([]string(nil), answers...)) {
			t.Fatalf("the client got %q", client.String())
		}
	})
}
