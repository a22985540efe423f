package protocol

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/wire"
)

func listen(id string) string {
	return `{"id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`
}

// tell is a notification of a subscription.
func tell(method, subscription string) string {
	return `{"method":"notifications/` + method + `","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + subscription + `},"uri":"file:///a"}}`
}

func subscribe(id, uri string) string {
	return `{"id":` + id + `,"method":"resources/subscribe","params":{"uri":"` + uri + `"}}`
}

func updated(uri string) string {
	return `{"method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
}

func TestWhatASubscriptionTellsBelongsToTheRequestThatOpenedIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines, want []string
		owed, open  int
	}{
		"by the id of that request": {
			[]string{
				"> " + listen("1"), "> " + listen(`"1"`), "< " + tell("subscriptions/acknowledged", `"1"`), "< " + tell("subscriptions/acknowledged", "1"),
				"< " + tell("resources/updated", "1"), "< " + tell("tools/list_changed", `"1"`),
			},
			[]string{"-", "-", "1", "0", "0", "1"},
			0, 2,
		},
		"an answer ends it": {
			[]string{"> " + listen("1"), "< " + answer("1"), "< " + tell("tools/list_changed", "1")},
			[]string{"-", "0", "unasked"},
			0, 0,
		},
		"the client may cancel it": {
			[]string{"> " + listen("1"), "> " + cancel("1"), "< " + answer("1")},
			[]string{"-", "0", "0 late"},
			0, 0,
		},
		"the server may end it by a cancellation": {
			[]string{"> " + listen("1"), "> " + ask("2"), "< " + cancel("1"), "< " + cancel("2"), "< " + answer("1")},
			[]string{"-", "-", "0", "unasked", "0 late"},
			1, 1,
		},
		"a request that reuses the id of one that was cancelled is owed its answer": {
			[]string{"> " + listen("1"), "> " + cancel("1"), "> " + ask("1")},
			[]string{"-", "0", "ambiguous"},
			1, 2,
		},
		"of two with one id it belongs to neither": {
			[]string{"> " + listen("1"), "> " + listen("1"), "< " + tell("tools/list_changed", "1"), "< " + cancel("1")},
			[]string{"-", "ambiguous", "ambiguous", "ambiguous"},
			0, 2,
		},
		"a cancellation of a subscription or of the server's own request is ambiguous": {
			[]string{"> " + listen("1"), "< " + ask("1"), "< " + cancel("1")},
			[]string{"-", "-", "ambiguous"},
			0, 2,
		},
		"an id of another request opens none": {
			[]string{"> " + ask("1"), "< " + tell("tools/list_changed", "1"), "< " + tell("tools/list_changed", "null")},
			[]string{"-", "unasked", "-"},
			1, 1,
		},
		"news of an unknown task belong to the subscription that they come by": {
			[]string{
				"> " + listen("1"),
				`< {"method":"notifications/tasks","params":{"taskId":"t","status":"working","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`,
			},
			[]string{"-", "0"},
			0, 1,
		},
		"news of a known task belong to its call": {
			[]string{
				"> " + listen("1"), "> " + ask("2"), "< " + hands("2", `"t"`),
				`< {"method":"notifications/tasks","params":{"taskId":"t","status":"working","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`,
			},
			[]string{"-", "-", "1 handle", "1"},
			0, 1,
		},
		"a resource that changed belongs to the last that subscribed to it": {
			[]string{
				"> " + subscribe("1", "file:///a"), "< " + updated("file:///a"), "< " + answer("1"), "< " + updated("file:///a"),
				"< " + updated("file:///a/part"), "> " + subscribe("2", "file:///a"), "< " + updated("file:///a"), "> " + updated("file:///a"),
			},
			[]string{"-", "0", "0", "0", "-", "-", "5", "-"},
			1, 1,
		},
		"and to none where that was refused or is over": {
			[]string{
				"> " + subscribe("1", "file:///a"), `< {"id":1,"error":{"code":-32602}}`, "< " + updated("file:///a"),
				"> " + subscribe("2", "file:///b"), "< " + answer("2"),
				`> {"id":3,"method":"resources/unsubscribe","params":{"uri":"file:///b"}}`, "< " + updated("file:///b"),
			},
			[]string{"-", "0", "-", "-", "3", "-", "-"},
			1, 1,
		},
		"a refusal takes no other subscription back": {
			[]string{
				"> " + subscribe("1", "file:///a"), "> " + subscribe("2", "file:///a"), `< {"id":1,"error":{"code":-32602}}`, "< " + updated("file:///a"),
			},
			[]string{"-", "-", "0", "1"},
			1, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := NewCalls()
			if diff := cmp.Diff(c.want, converse(t, calls, c.lines...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if owed := calls.Owed(wire.FromClient); owed != c.owed || calls.Len() != c.open {
				t.Errorf("%d are owed and %d open, want %d and %d", owed, calls.Len(), c.owed, c.open)
			}
		})
	}
}

func TestOnlySoManyResourcesAreRememberedAndNoneAfterTheEnd(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	var lines []string
	for i := range keptWatched + 2 {
		lines = append(lines, "> "+subscribe("1", fmt.Sprint(i)), "< "+answer("1"))
	}
	converse(t, calls, lines...)
	if got := converse(t, calls, "< "+updated("1"), "< "+updated("2")); got[0] != "-" || got[1] != "4" {
		t.Errorf("the last that was forgotten and the first that was kept are %q", got)
	}
	calls.End("")
	if got := converse(t, calls, "< "+updated("2")); got[0] != "-" || calls.watched.order.Len() != 0 {
		t.Errorf("after the end of the connection it is %q", got)
	}
}
