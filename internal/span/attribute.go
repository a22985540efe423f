package span

import (
	"maps"
	"slices"

	"go.opentelemetry.io/otel/attribute"
)

// The attributes that spans may have. What is not in this list is not sent, whoever
// put it there. Those without "deed." are named by the semantic conventions.
// https://opentelemetry.io/docs/specs/semconv/
const (
	requestMethod  = attribute.Key("http.request.method")
	httpRoute      = attribute.Key("http.route")
	statusCode     = attribute.Key("http.response.status_code")
	urlPath        = attribute.Key("url.path")
	urlScheme      = attribute.Key("url.scheme")
	errorType      = attribute.Key("error.type")
	databaseSystem = attribute.Key("db.system.name")

	requestID   = attribute.Key("deed.request.id")
	errorCode   = attribute.Key("deed.error.code")
	workspaceID = attribute.Key("deed.workspace.id")
	unitKind    = attribute.Key("deed.unit.kind")
	unitResult  = attribute.Key("deed.unit.result")
	unitRetries = attribute.Key("deed.unit.retries")
	wakes       = attribute.Key("deed.evaluation.wakes")
	evaluated   = attribute.Key("deed.evaluation.evaluated")
	kept        = attribute.Key("deed.evaluation.kept")
	failed      = attribute.Key("deed.evaluation.failed")
	jobName     = attribute.Key("deed.job.name")
)

// listed says whether an attribute may be sent.
func listed(key attribute.Key) bool {
	switch key {
	case requestMethod, httpRoute, statusCode, urlPath, urlScheme, errorType, databaseSystem,
		requestID, errorCode, workspaceID, unitKind, unitResult, unitRetries, wakes, evaluated, kept, failed, jobName:
		return true
	}
	return false
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
