package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// maxKeyBytes is how long a text may be to stand in an index as it is. Longer
// ones stand there as their digest.
const maxKeyBytes = 256

// key is a text as indexes hold it.
func key(text string) string {
	if len(text) <= maxKeyBytes {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func keys(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = key(text)
	}
	return all
}

// form writes what a row keeps as a whole: JSON with sorted names, so that the
// same is always written alike.
func form(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true))
}

// reading is how forms are read: everything as it was written, whatever the
// bounds of what is let in from outside are by then.
var reading = json.JoinOptions(
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(readInstant),
		json.UnmarshalFromFunc(readAmount),
	)),
)

func readForm(text []byte, into any) error {
	if err := json.Unmarshal(text, into, reading); err != nil {
		return fmt.Errorf("read what is kept: %w", err)
	}
	return nil
}

func readInstant(d *jsontext.Decoder, i *value.Instant) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	text := token.String()
	if text == "" {
		*i = 0
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	*i = value.FromTime(t)
	return err
}

func readAmount(d *jsontext.Decoder, a *money.Amount) error {
	var v value.Value
	if err := v.UnmarshalJSONFrom(d); err != nil {
		return err
	}
	if v.Kind() != value.Money {
		return errors.New("this is no amount")
	}
	*a = v.Amount()
	return nil
}

func readDeclaration(text []byte) (verdict.Declaration, error) {
	var d verdict.Declaration
	return d, readForm(text, &d)
}

func readVerdict(text []byte) (*verdict.Verdict, error) {
	v := new(verdict.Verdict)
	return v, readForm(text, v)
}

func readSources(text []byte) ([]evidence.Source, error) {
	var sources []evidence.Source
	return sources, readForm(text, &sources)
}

func readFact(text []byte) (evidence.Fact, error) {
	var f evidence.Fact
	return f, readForm(text, &f)
}

// plain writes a number without needless zeros, so that a total reads the same
// whatever it was added up from.
func plain(d money.Decimal) string {
	text := money.Text(d)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
