package server

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
)

// SignInPath is where sign-in links lead. The token stands behind a # in the link,
// so that no browser sends it anywhere and no log has it.
const SignInPath = "/sign-in"

//go:embed signin.html
var signInPage []byte

// SignInPage says what to do with a sign-in link. It uses no link up: mail
// scanners and chat previews fetch links before people do.
func SignInPage() http.Handler {
	policy := "default-src 'none'; style-src " + styleHash(string(signInPage)) + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this page can only be read", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(signInPage)
	})
}

// styleHash names the one style of a page in its policy.
func styleHash(page string) string {
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
