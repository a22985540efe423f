package recorder

import (
	"context"
	"crypto/rand"
	"errors"
	"log"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/value"
)

// Recorder declares the calls that cross one connection. Several goroutines
// may use it.
type Recorder struct {
	mapping *intent.Mapping
	session string
	strict  bool // refuse a call whose declaration failed
	warns   bool // about tools that are not mapped
	api     *api // nil: nothing is declared
	log     *log.Logger

	mu       sync.Mutex
	open     *openCalls
	unmapped map[string]bool
}

// New makes a recorder. Without a key or an address of the API it declares
// nothing and says so once. Its errors are about the options.
func New(mapping *Mapping, o Options) (*Recorder, error) {
	if mapping == nil {
		return nil, errors.New("make a recorder: there is no mapping")
	}
	endpoint, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	r := &Recorder{
		mapping: mapping.of.With(o.AgentID, o.WorkflowID, ""),
		session: o.Session, strict: o.NoFailOpen, warns: o.WarnUnmapped, log: o.logger(),
		open: newOpenCalls(), unmapped: map[string]bool{},
	}
	if r.session == "" {
		r.session = rand.Text()[:12]
	}
	if endpoint == "" {
		r.log.Print("nothing is declared: there is no API key, or no address of the API")
		return r, nil
	}
	key := o.APIKey
	r.api = &api{endpoint: endpoint, key: func() string { return key }, client: o.client(), timeout: o.Timeout}
	if r.api.timeout <= 0 {
		r.api.timeout = defaultTimeout
	}
	return r, nil
}

// Decision says what to do with a client's message.
type Decision struct {
	// Forward the message, byte for byte. Else it must not reach the server.
	Forward bool
	// ActionID is the action that was declared, of a batch the first; empty if
	// there is none.
	ActionID string
	// ActionIDs are all of them.
	ActionIDs []string
	// Err is why a call of a mapped tool was not declared: a [*NotDeclarable]
	// or a [*RecordingError]. Of a batch it is the first one's.
	Err error
	// Reply is what the client gets if the message is not forwarded: a JSON-RPC
	// error for its id, or an array of one for each id of a batch.
	Reply []byte
}

// BeforeForward declares what a client's message asks for, and waits for that.
// Message is one JSON-RPC message or a batch, as it was written. What is no
// call of a mapped tool is to be forwarded at once.
func (r *Recorder) BeforeForward(ctx context.Context, message []byte) Decision {
	at := value.FromTime(time.Now())
	if elements, ok := intent.Batch(message); ok {
		return r.batch(ctx, elements, at)
	}
	return r.one(ctx, message, at)
}

func (r *Recorder) one(ctx context.Context, message []byte, at value.Instant) Decision {
	if r.api == nil {
		return Decision{Forward: true}
	}
	m, err := intent.ReadMessage(message)
	if err != nil {
		return r.unreadable(err)
	}
	if !m.IsCall() {
		return Decision{Forward: true}
	}
	tool, mapped := r.mapping.Tool(m.Tool)
	if !mapped {
		r.warnUnmapped(m.Tool)
		return Decision{Forward: true}
	}
	declared, err := r.mapping.Declare(tool, intent.Call{Tool: m.Tool, Params: m.Params, RequestID: m.ID, Session: r.session, At: at})
	if err != nil {
		r.log.Printf("%s is not declared and is forwarded: %v", shown(m.Tool), err)
		return Decision{Forward: true, Err: err}
	}
	err = r.api.declare(ctx, declared.ActionID, declared.Body)
	switch {
	case err == nil:
		r.mu.Lock()
		r.open.add(string(m.ID), declared.ActionID)
		r.mu.Unlock()
		return Decision{Forward: true, ActionID: declared.ActionID, ActionIDs: []string{declared.ActionID}}
	case r.strict:
		r.log.Printf("%s is refused: %v", shown(m.Tool), err)
		return Decision{Err: err, Reply: refusal(m.ID, err)}
	}
	r.log.Printf("%s is forwarded and not recorded: %v", shown(m.Tool), err)
	return Decision{Forward: true, Err: err}
}

// unreadable is a message that is no JSON object, or that readers would see
// differently. Only the second one is worth a word.
func (r *Recorder) unreadable(err error) Decision {
	var why *intent.NotDeclarable
	if errors.As(err, &why) && why.Reason == intent.Twice {
		r.log.Printf("a message is not looked at and is forwarded: %v", err)
		return Decision{Forward: true, Err: err}
	}
	return Decision{Forward: true}
}

// atOnce is how many declarations of a batch are under way at a time.
const atOnce = 8

// batch declares all calls of a batch before any of it is forwarded.
func (r *Recorder) batch(ctx context.Context, elements [][]byte, at value.Instant) Decision {
	decisions := make([]Decision, len(elements))
	var all sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, element := range elements {
		places <- struct{}{}
		all.Go(func() {
			decisions[i] = r.one(ctx, element, at)
			<-places
		})
	}
	all.Wait()
	whole := Decision{Forward: true}
	for _, d := range decisions {
		whole.ActionIDs = append(whole.ActionIDs, d.ActionIDs...)
		if whole.Err == nil || whole.Forward && !d.Forward {
			whole.Err = d.Err
		}
		whole.Forward = whole.Forward && d.Forward
	}
	if len(whole.ActionIDs) > 0 {
		whole.ActionID = whole.ActionIDs[0]
	}
	if !whole.Forward {
		whole.Reply = refusals(elements, whole.Err)
		r.forget(elements)
	}
	return whole
}

// forget that answers of a batch are waited for, because it is not forwarded.
func (r *Recorder) forget(elements [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, element := range elements {
		if m, err := intent.ReadMessage(element); err == nil {
			r.open.take(string(m.ID))
		}
	}
}

// AfterResponse takes a server's message. If it answers a call that was
// declared, that is logged; nothing else is done with it.
func (r *Recorder) AfterResponse(message []byte) {
	elements, ok := intent.Batch(message)
	if !ok {
		elements = [][]byte{message}
	}
	for _, element := range elements {
		m, err := intent.ReadMessage(element)
		if err != nil || !m.Answers {
			continue
		}
		r.mu.Lock()
		actionID, declared := r.open.take(string(m.ID))
		r.mu.Unlock()
		switch {
		case !declared:
		case len(m.ErrorCode) > 0:
			r.log.Printf("recorded %s → error %s", shown(actionID), shown(string(m.ErrorCode)))
		default:
			r.log.Printf("recorded %s → tool result isError=%t", shown(actionID), m.IsError)
		}
	}
}

// mostUnmapped is how many names are remembered to be told once each.
const mostUnmapped = 1_000

func (r *Recorder) warnUnmapped(tool string) {
	if !r.warns {
		return
	}
	r.mu.Lock()
	told := r.unmapped[tool] || len(r.unmapped) >= mostUnmapped
	if !told {
		r.unmapped[tool] = true
	}
	r.mu.Unlock()
	if !told {
		r.log.Printf("%s is called and not mapped", shown(tool))
	}
}

// shown is a name from the wire as a log may have it.
func shown(text string) string {
	const most = 600 // an action's id has up to 512 bytes
	if len(text) > most {
		text = text[:most] + "…"
	}
	return terminal.Clean(text)
}
