package verdict

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

func TestADigestIsSHA256OverTheCanonicalForm(t *testing.T) {
	t.Parallel()
	v := fullVerdict(t)
	sum := sha256.Sum256(v.AppendJSON(nil))
	if want := "sha256:" + hex.EncodeToString(sum[:]); v.Digest() != want {
		t.Errorf("the verdict's digest is %s, want %s", v.Digest(), want)
	}
}

// The contract's text is the largest part of most cases, and its digest is
// there beside it.
func TestTheDigestOfACaseLeavesOutTheContractsText(t *testing.T) {
	t.Parallel()
	c := refundCase(t)
	member := append(appendText([]byte(`"text":`), c.Governing.Contract.Text), ',')
	whole := c.AppendJSON(nil)
	without := bytes.Replace(whole, member, nil, 1)
	if len(without) == len(whole) {
		t.Fatalf("the text is not in\n%s", whole)
	}
	sum := sha256.Sum256(without)
	if want := "sha256:" + hex.EncodeToString(sum[:]); c.Digest() != want {
		t.Errorf("the case's digest is %s, want %s", c.Digest(), want)
	}
}

// filler sets every field of what it is given to something that no other field
// has, so that a field which the encoder forgets is seen.
type filler struct {
	t testing.TB
	n int
}

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch v.Interface().(type) {
	case value.Value:
		v.Set(reflect.ValueOf(value.OfMoney(amount(f.t, "1.50 USD"))))
		return
	case value.Instant:
		v.SetInt(int64(instant(f.t, "2026-11-02T12:00:00Z") + value.Instant(f.n)))
		return
	case money.Amount:
		v.Set(reflect.ValueOf(amount(f.t, fmt.Sprintf("180.00 C%04d", f.n))))
		return
	case evidence.Resolution:
		v.SetInt(int64(time.Duration(f.n) * time.Millisecond))
		return
	case evidence.Trust:
		v.Set(reflect.ValueOf(evidence.Attested))
		return
	case *contract.Contract:
		c, err := contract.Parse(refundText)
		if err != nil {
			f.t.Fatal(err)
		}
		v.Set(reflect.ValueOf(c))
		return
	}
	for kind, word := range map[reflect.Type]string{
		reflect.TypeFor[evidence.Mode](): "state", reflect.TypeFor[Mode](): "shadow", reflect.TypeFor[Status](): "settled",
		reflect.TypeFor[Result](): "PASS", reflect.TypeFor[Code](): "EFFECT_SEEN",
	} {
		if v.Type() == kind {
			v.SetString(word)
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, name := range []string{"one", "two"} {
			element := reflect.New(v.Type().Elem()).Elem()
			f.fill(element)
			v.SetMapIndex(reflect.ValueOf(name), element)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%04d", f.n)) // sorted as they are made
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n))
	default:
		f.t.Fatalf("a field of kind %v", v.Kind())
	}
}

// fullCase has every field set.
func fullCase(t testing.TB) *Case {
	t.Helper()
	var c Case
	(&filler{t: t}).fill(reflect.ValueOf(&c).Elem())
	c.Engine = Engine
	c.Declarations[1].ActionID = c.Declarations[0].ActionID
	c.Declarations[0].ContractID = c.Governing.Contract.ID
	c.Previous.Digest = "sha256:8810ad581e59f2bc3928b261707a71308f7e139eb04820366dc4d5c18d980225"
	return &c
}

func fullVerdict(t *testing.T) *Verdict {
	t.Helper()
	var v Verdict
	(&filler{t: t}).fill(reflect.ValueOf(&v).Elem())
	return &v
}

func TestNoFieldOfACaseCanChangeWithoutItsDigest(t *testing.T) {
	t.Parallel()
	c := fullCase(t)
	before := c.Digest()
	changes := eachLeaf(t, reflect.ValueOf(c).Elem(), "case", func(path string) {
		if c.Digest() == before {
			t.Errorf("a change of %s does not show in the digest", path)
		}
	})
	if c.Digest() != before {
		t.Fatal("the test did not put everything back")
	}
	if changes < 100 {
		t.Errorf("only %d fields were changed", changes)
	}
}

func TestNoFieldOfAVerdictCanChangeWithoutItsDigest(t *testing.T) {
	t.Parallel()
	v := fullVerdict(t)
	before := v.Digest()
	changes := eachLeaf(t, reflect.ValueOf(v).Elem(), "verdict", func(path string) {
		if v.Digest() == before {
			t.Errorf("a change of %s does not show in the digest", path)
		}
	})
	if changes < 60 {
		t.Errorf("only %d fields were changed", changes)
	}
}

// eachLeaf empties every field in turn, calls changed, and puts it back.
func eachLeaf(t *testing.T, v reflect.Value, path string, changed func(path string)) int {
	t.Helper()
	if v.Type() == reflect.TypeFor[*contract.Contract]() {
		return 0 // named by its digest
	}
	kept := reflect.New(v.Type()).Elem()
	kept.Set(v)
	changes := 1
	switch v.Kind() {
	case reflect.Struct:
		changes = 0
		if v.Type() != reflect.TypeFor[money.Amount]() {
			for i := range v.NumField() {
				field := v.Type().Field(i)
				if field.IsExported() {
					changes += eachLeaf(t, v.Field(i), path+"."+field.Name, changed)
				}
			}
			return changes
		}
	case reflect.Slice:
		for i := range v.Len() {
			changes += eachLeaf(t, v.Index(i), path+"[]", changed)
		}
	case reflect.Pointer:
		changes += eachLeaf(t, v.Elem(), path, changed)
		if v.Type() == reflect.TypeFor[*Governing]() {
			break
		}
	}
	v.SetZero()
	changed(path)
	v.Set(kept)
	return changes
}
