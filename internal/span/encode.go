package span

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The messages of OTLP in their JSON form: ids in hex, 64-bit integers as decimal
// text, enumerations as integers.
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resourceForm `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resourceForm struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []spanForm `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitzero"`
	}
	spanForm struct {
		TraceID           string     `json:"traceId"`
		SpanID            string     `json:"spanId"`
		ParentSpanID      string     `json:"parentSpanId,omitzero"`
		Flags             uint32     `json:"flags"`
		Name              string     `json:"name"`
		Kind              int        `json:"kind"`
		StartTimeUnixNano uint64     `json:"startTimeUnixNano,string"`
		EndTimeUnixNano   uint64     `json:"endTimeUnixNano,string"`
		Attributes        []keyValue `json:"attributes"`
		Status            status     `json:"status,omitzero"`
	}
	status struct {
		Code int `json:"code,omitzero"`
	}
	keyValue struct {
		Key   string   `json:"key"`
		Value anyValue `json:"value"`
	}
	// anyValue has one member.
	anyValue struct {
		Text  *string `json:"stringValue,omitzero"`
		Whole *string `json:"intValue,omitzero"`
	}
)

// Bits of a span's flags beside those of W3C: whether the parent is from another
// process, and that this is known.
const (
	flagKnowsRemote = 1 << 8
	flagRemote      = 1 << 9
)

// statusError is STATUS_CODE_ERROR.
const statusError = 2

// encode makes the body of a request. Events, links, states and texts of errors are
// left out, were there any.
func encode(process []keyValue, version string, spans []sdktrace.ReadOnlySpan) ([]byte, error) {
	forms := make([]spanForm, len(spans))
	for i, s := range spans {
		forms[i] = formOf(s)
	}
	return json.Marshal(exportRequest{ResourceSpans: []resourceSpans{{
		Resource:   resourceForm{Attributes: process},
		ScopeSpans: []scopeSpans{{Scope: scope{Name: scopeName, Version: version}, Spans: forms}},
	}}}, jsontext.AllowInvalidUTF8(true)) // which puts U+FFFD in its place
}

func formOf(s sdktrace.ReadOnlySpan) spanForm {
	f := spanForm{
		TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(),
		Flags: uint32(s.SpanContext().TraceFlags()) | flagKnowsRemote,
		Name:  s.Name(), Kind: kindOf(s.SpanKind()),
		StartTimeUnixNano: uint64(s.StartTime().UnixNano()), EndTimeUnixNano: uint64(s.EndTime().UnixNano()),
		Attributes: make([]keyValue, 0, len(s.Attributes())),
	}
	if parent := s.Parent(); parent.HasSpanID() {
		f.ParentSpanID = parent.SpanID().String()
		if parent.IsRemote() {
			f.Flags |= flagRemote
		}
	}
	for _, a := range s.Attributes() {
		if listed(a.Key) {
			f.Attributes = append(f.Attributes, keyValueOf(a))
		}
	}
	if s.Status().Code == codes.Error {
		f.Status.Code = statusError
	}
	return f
}

// kindOf is a kind's number in opentelemetry.proto.trace.v1.Span.SpanKind.
func kindOf(k trace.SpanKind) int {
	switch k {
	case trace.SpanKindServer:
		return 2
	case trace.SpanKindClient:
		return 3
	}
	return 1 // internal
}

func keyValueOf(a attribute.KeyValue) keyValue {
	form := keyValue{Key: string(a.Key)}
	if a.Value.Type() == attribute.INT64 {
		whole := strconv.FormatInt(a.Value.AsInt64(), 10)
		form.Value.Whole = &whole
		return form
	}
	text := a.Value.AsString()
	form.Value.Text = &text
	return form
}
