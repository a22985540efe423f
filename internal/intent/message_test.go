package intent_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/deed-dev/deed/internal/intent"
)

func TestTheEnvelopeOfAMessageIsReadFromItsBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1.0,"method":"tools\/call","params":{"name":"t\u0031","arguments":{"id":2}}}`: `1.0 tools/call t1 {"name":"t\u0031","arguments":{"id":2}} false false `,
		`{"id":"a","result":{"isError":true,"content":[]}}`:                                                  `"a" true true `,
		`{"id":null,"error":{"code":-32602,"message":"x"}}`:                                                  `null true false -32602`,
		`{"method":"tools/call","params":["t"]}`:                                                             `tools/call false false `,
		`{"id":5,"method":7,"params":{"name":8}}`:                                                            `5 {"name":8} false false `,
		`{"result":{"isError":"true"}}`:                                                                      `true false `,
	} {
		m, err := intent.ReadMessage([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		for _, part := range []string{string(m.ID), m.Method, m.Tool, string(m.Params)} {
			if part != "" {
				got += part + " "
			}
		}
		if got += fmt.Sprint(m.Answers, m.IsError, " ", string(m.ErrorCode)); got != want {
			t.Errorf("%s\nis read as %s\nand not as %s", text, got, want)
		}
	}
}

func TestAMessageThatReadersSeeDifferentlyIsToldApart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]intent.NotDeclarable{
		`{"method":"ping","method":"tools/call"}`:      {Reason: intent.Twice, Path: "method"},
		`{"id":1,"params":{"name":"a","nam\u0065":1}}`: {Reason: intent.Twice, Path: "params.name"},
		`{"id":1} x`: {Reason: intent.Unreadable},
		`[{"id":1}]`: {Reason: intent.Unreadable},
	} {
		_, err := intent.ReadMessage([]byte(text))
		var why *intent.NotDeclarable
		if !errors.As(err, &why) || *why != want {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

func TestABatchIsCutIntoItsElements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		` [ {"id":1} , [2,[3]],"]" ]` + "\n": `[{"id":1} [2,[3]] "]"] true`,
		`[]`:                                 "[] true",
		`[1`:                                 "[] false",
		`[1,]`:                               "[] false",
		`[1] 2`:                              "[1] false",
		`{"id":[]}`:                          "[] false",
		``:                                   "[] false",
	} {
		elements, ok := intent.Batch([]byte(text))
		if got := fmt.Sprintf("%s %v", elements, ok); got != want {
			t.Errorf("%q is cut into %s, want %s", text, got, want)
		}
	}
}
