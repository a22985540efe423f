package protocol

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hands is an answer that hands out a task, as the extension has it.
func hands(id, task string) string {
	return `{"id":` + id + `,"result":{"resultType":"task","taskId":` + task + `,"status":"working"}}`
}

// handsOld is one as 2025-11-25 has it.
func handsOld(id, task string) string {
	return `{"id":` + id + `,"result":{"task":{"taskId":` + task + `,"status":"working"}}}`
}

func about(id, method, task string) string {
	return `{"id":` + id + `,"method":"tasks/` + method + `","params":{"taskId":` + task + `}}`
}

func stateOf(id, task, status string) string {
	return `{"id":` + id + `,"result":{"resultType":"complete","taskId":` + task + `,"status":"` + status + `"}}`
}

func news(method, task, status string) string {
	return `{"method":"notifications/` + method + `","params":{"taskId":` + task + `,"status":"` + status + `"}}`
}

// related names a task in the _meta of params or result.
func related(task string) string {
	return `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":` + task + `}}}`
}

func TestWhatIsAboutATaskBelongsToTheCallThatItWorksFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lines, want []string }{
		"a task of the extension is polled": {
			[]string{
				"> " + ask("1"), "< " + hands("1", `"t"`), "> " + about("2", "get", `"t"`), "< " + stateOf("2", `"t"`, "working"),
				"> " + about("3", "update", `"t"`), "< " + answer("3"), "> " + about("4", "cancel", `"t"`), "< " + answer("4"),
				"< " + news("tasks", `"t"`, "completed"),
			},
			[]string{"-", "0 handle", "for 0", "2 for 0", "for 0", "4 for 0", "for 0", "6 for 0", "0"},
		},
		"a task of 2025-11-25 is fetched after it has ended": {
			[]string{
				"> " + ask("1"), "< " + handsOld("1", `"t"`), "< " + news("tasks/status", `"t"`, "working"),
				"> " + about("2", "get", `"t"`), "< " + stateOf("2", `"t"`, "completed"),
				"> " + about("3", "result", `"t"`), `< {"id":3,"result":` + related(`"t"`) + `}`,
			},
			[]string{"-", "0 handle", "0", "for 0", "3 for 0", "for 0", "5 for 0"},
		},
		"what the server asks for a task belongs to it, and so does the answer": {
			[]string{
				"> " + ask("1"), "< " + handsOld("1", `"t"`),
				`< {"id":1,"method":"elicitation/create","params":` + related(`"t"`) + `}`, `> {"id":1,"result":` + related(`"t"`) + `}`,
				`< {"method":"notifications/message","params":` + related(`"t"`) + `}`,
				`> {"method":"notifications/cancelled","params":{"requestId":1,"_meta":{}}}`,
			},
			[]string{"-", "0 handle", "for 0", "2 for 0", "0", "unasked"},
		},
		"an answer may name the task that its request did not": {
			[]string{"> " + ask("1"), "< " + handsOld("1", `"t"`), "> " + ask("2"), `< {"id":2,"result":` + related(`"t"`) + `}`},
			[]string{"-", "0 handle", "-", "2 for 0"},
		},
		"a task of the client's works for the server": {
			[]string{
				`< {"id":1,"method":"sampling/createMessage"}`, "> " + handsOld("1", `"t"`), "< " + about("2", "get", `"t"`),
				"> " + stateOf("2", `"t"`, "completed"), "> " + news("tasks/status", `"t"`, "completed"),
			},
			[]string{"-", "0 handle", "for 0", "2 for 0", "0"},
		},
		"the sides may use one id for two tasks": {
			[]string{
				"> " + ask("1"), "< " + handsOld("1", `"t"`), "< " + ask("1"), "> " + handsOld("1", `"t"`),
				"> " + about("2", "get", `"t"`), "< " + about("2", "get", `"t"`), "< " + news("tasks/status", `"t"`, "working"),
				"> " + news("tasks/status", `"t"`, "working"), `< {"method":"notifications/message","params":` + related(`"t"`) + `}`,
			},
			[]string{"-", "0 handle", "-", "2 handle", "for 0", "for 2", "0", "2", "ambiguous"},
		},
		"one id for two calls belongs to neither": {
			[]string{
				"> " + ask("1"), "> " + ask("2"), "< " + hands("1", `"t"`), "< " + hands("2", `"t"`), "> " + about("3", "get", `"t"`),
				"< " + stateOf("3", `"t"`, "working"), "< " + news("tasks", `"t"`, "working"),
			},
			[]string{"-", "-", "0 handle", "1 handle", "-", "4", "ambiguous"},
		},
		"a task that nobody handed out belongs to nothing": {
			[]string{
				"> " + about("1", "get", `"t"`), "< " + stateOf("1", `"t"`, "working"), "< " + news("tasks", `"t"`, "working"),
				`< {"method":"notifications/message","params":` + related(`"t"`) + `}`,
			},
			[]string{"-", "0", "unasked", "unasked"},
		},
		"connections have nothing to do with each other": {
			[]string{">a " + ask("1"), "<a " + hands("1", `"t"`), ">b " + about("1", "get", `"t"`), ">a " + about("1", "get", `"t"`)},
			[]string{"-", "0 handle", "-", "for 0"},
		},
		"the state of a task hands out none": {
			[]string{
				"> " + ask("1"), "< " + hands("1", `"t"`), "> " + about("2", "get", `"t"`), "< " + hands("2", `"t"`),
				"> " + about("3", "get", `"t"`),
			},
			[]string{"-", "0 handle", "for 0", "2 for 0", "for 0"},
		},
		"an id may be escaped, and the method too": {
			[]string{
				"> " + ask("1"), "< " + hands("1", `"a/b"`), `> {"id":2,"method":"tasks\/get","params":{"taskId":"a\/b"}}`,
			},
			[]string{"-", "0 handle", "for 0"},
		},
		"a task belongs to the first round of its call": {
			[]string{
				"> " + call("1", ""), "< " + more("1", `"s"`), "> " + call("2", stateS), "< " + hands("2", `"t"`),
				"> " + about("3", "get", `"t"`), "< " + stateOf("3", `"t"`, "completed"),
			},
			[]string{"-", "0 interim", "round 2 of 0", "2 handle for 0", "for 0", "4 for 0"},
		},
		"a task for a task belongs to the call behind both": {
			[]string{
				"> " + ask("1"), "< " + handsOld("1", `"t"`), `< {"id":1,"method":"elicitation/create","params":` + related(`"t"`) + `}`,
				"> " + handsOld("1", `"u"`), "< " + about("2", "get", `"u"`),
			},
			[]string{"-", "0 handle", "for 0", "2 handle for 0", "for 0"},
		},
		"the token for progress holds until the task has ended": {
			[]string{
				"> " + askWithToken("1", `"p"`), "< " + hands("1", `"t"`), "< " + progress(`"p"`), "< " + news("tasks", `"t"`, "completed"),
				"< " + progress(`"p"`),
			},
			[]string{"-", "0 handle", "0", "0", "unasked"},
		},
		"once it is given again nobody knows whose progress it is": {
			[]string{
				"> " + askWithToken("1", "7"), "< " + hands("1", `"t"`), "> " + askWithToken("2", "7"), "< " + progress("7"),
				"< " + answer("2"), "< " + progress("7"),
			},
			[]string{"-", "0 handle", "-", "ambiguous", "2", "unasked"},
		},
		"progress may name the task and no token that is known": {
			[]string{
				"> " + ask("1"), "< " + hands("1", `"t"`),
				`< {"method":"notifications/progress","params":{"progressToken":9,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}`,
			},
			[]string{"-", "0 handle", "0"},
		},
		"a task that ended with an error is not known to have ended": {
			[]string{
				"> " + askWithToken("1", "7"), "< " + hands("1", `"t"`), "> " + about("2", "get", `"t"`),
				`< {"id":2,"error":{"code":-32603,"message":"x"}}`, "< " + progress("7"),
			},
			[]string{"-", "0 handle", "for 0", "2 for 0", "0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, converse(t, NewCalls(), c.lines...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnlySoManyTasksAreRemembered(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	var lines []string
	for i := range keptTasks + 5 {
		id := fmt.Sprint(i)
		lines = append(lines, "> "+askWithToken(id, id), "< "+hands(id, `"`+id+`"`))
	}
	converse(t, calls, lines...)
	if n, p := len(calls.tasks.byID.byKey), len(calls.tasks.byProgress); n != keptTasks || p != keptTasks {
		t.Errorf("%d tasks and %d tokens are remembered", n, p)
	}
	got := converse(t, calls, "> "+about("1", "get", `"4"`), "> "+about("2", "get", `"5"`), "< "+progress("4"), "< "+progress("5"))
	if want := []string{"-", "for 10", "unasked", "10"}; !cmp.Equal(want, got) {
		t.Errorf("the last that was forgotten and the first that was kept are %q, want %q", got, want)
	}
	calls.End("")
	if len(calls.tasks.byID.byKey)+len(calls.tasks.byProgress)+calls.tasks.byID.order.Len() != 0 {
		t.Error("tasks are remembered after the end of their connection")
	}
}

// A chain in which every task works for the one before must not keep all of
// them in memory.
func TestACallKeepsNoMoreThanTwoOthersInMemory(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	converse(t, calls, "> "+ask("1"), "< "+handsOld("1", `"0"`))
	for i := range 100 {
		converse(t, calls, `< {"id":2,"method":"elicitation/create","params":`+related(`"`+fmt.Sprint(i)+`"`)+`}`,
			"> "+handsOld("2", `"`+fmt.Sprint(i+1)+`"`))
	}
	for _, e := range calls.tasks.byID.byKey {
		if c := e.Value.(entry[string, *task]).value.call; c.Task != nil || c.First != c {
			t.Fatal("a task's call leads to another one")
		}
	}
}
