package backoffice

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Payment is an order to pay money back.
type Payment struct {
	Order    string `json:"order"`
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
	Key      string `json:"key,omitempty"` // kept as a reference; the office pays each time it is told to
	// AfterMS is how long the payment waits before it is made, in milliseconds.
	AfterMS int `json:"after_ms,omitempty"`
}

// Consent is somebody's yes to an action.
type Consent struct {
	Action string `json:"action"`
	By     string `json:"by"`
}

// longestWait bounds a payment that is to be made later.
const longestWait = time.Minute

// Office takes payments and approvals over HTTP. It is for one machine and asks
// nobody who they are.
type Office struct {
	ledger *Ledger
	done   context.Context
	later  sync.WaitGroup
}

// NewOffice makes one. When ctx ends, payments that are still to be made are not.
func NewOffice(ctx context.Context, ledger *Ledger) *Office {
	return &Office{ledger: ledger, done: ctx}
}

// Wait returns once no payment is to be made any more.
func (o *Office) Wait() { o.later.Wait() }

// Handler serves the office.
func (o *Office) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /refunds", o.refund)
	mux.HandleFunc("POST /approvals", o.approve)
	return mux
}

func (o *Office) refund(w http.ResponseWriter, r *http.Request) {
	var p Payment
	if !take(w, r, &p) {
		return
	}
	after := time.Duration(p.AfterMS) * time.Millisecond
	if p.Order == "" || p.Amount == "" || p.Currency == "" || after < 0 || after > longestWait {
		http.Error(w, "a payment has an order, an amount, a currency, and waits a minute at most", http.StatusBadRequest)
		return
	}
	entry := Entry{Kind: Refund, Order: p.Order, Amount: p.Amount, Currency: p.Currency, Key: p.Key}
	if after == 0 {
		o.keep(w, entry)
		return
	}
	o.later.Go(func() {
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-o.done.Done():
		case <-timer.C:
			_, _ = o.ledger.Append(entry) // whoever asked has its answer; the ledger is what counts
		}
	})
	w.WriteHeader(http.StatusAccepted)
}

func (o *Office) approve(w http.ResponseWriter, r *http.Request) {
	var c Consent
	if !take(w, r, &c) {
		return
	}
	if c.Action == "" || c.By == "" {
		http.Error(w, "an approval names the action and who approves", http.StatusBadRequest)
		return
	}
	o.keep(w, Entry{Kind: Approval, Action: c.Action, By: c.By})
}

func take(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		http.Error(w, fmt.Sprintf("this is not what is taken here: %v", err), http.StatusBadRequest)
		return false
	}
	return true
}

func (o *Office) keep(w http.ResponseWriter, e Entry) {
	kept, err := o.ledger.Append(e)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(kept) // the client may be gone
}
