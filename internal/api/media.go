package api

import (
	"mime"
	"net/http"
	"strings"
)

// checkMedia takes JSON in UTF-8 that is not compressed. A body that a server
// unpacks can be a thousand times as long as what was sent.
func checkMedia(h http.Header) error {
	for _, encoding := range h.Values("Content-Encoding") {
		if !strings.EqualFold(strings.TrimSpace(encoding), "identity") {
			return &mediaError{problem: "a compressed body is not taken"}
		}
	}
	given := h.Values("Content-Type")
	if len(given) != 1 {
		return &mediaError{problem: "send JSON, with one Content-Type: application/json"}
	}
	kind, params, err := mime.ParseMediaType(given[0])
	if err != nil || kind != "application/json" {
		return &mediaError{problem: "send JSON, with Content-Type: application/json"}
	}
	for name, text := range params {
		if name == "charset" && !strings.EqualFold(text, "utf-8") {
			return &mediaError{problem: "JSON is in UTF-8; no other charset is taken"}
		}
	}
	return nil
}
