package access_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
)

func TestAnOrderThatCannotBeIsRefusedByTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	good := access.KeyOrder{ID: "k", Name: "a key", Scopes: access.ScopesOf(access.FactsWrite), Sources: []string{"stripe"}}
	many := strings.Split(strings.Repeat("x,", 100)+"x", ",")
	for name, c := range map[string]struct {
		change func(*access.KeyOrder)
		field  string
	}{
		"nothing is wrong":           {func(*access.KeyOrder) {}, ""},
		"no scopes":                  {func(o *access.KeyOrder) { o.Scopes = access.Scopes{} }, "scopes"},
		"facts of no source":         {func(o *access.KeyOrder) { o.Sources = nil }, "sources"},
		"a source without a name":    {func(o *access.KeyOrder) { o.Sources = []string{"stripe", ""} }, "sources"},
		"sources and no facts":       {func(o *access.KeyOrder) { o.Scopes = access.ScopesOf(access.ActionsRead) }, "sources"},
		"too many sources":           {func(o *access.KeyOrder) { o.Sources = many }, "sources"},
		"too many contracts":         {func(o *access.KeyOrder) { o.Limits.Contracts = many }, "contracts"},
		"an empty action type":       {func(o *access.KeyOrder) { o.Limits.ActionTypes = []string{""} }, "action_types"},
		"an empty agent":             {func(o *access.KeyOrder) { o.Limits.Agents = []string{""} }, "agents"},
		"no name":                    {func(o *access.KeyOrder) { o.Name = " \t" }, "name"},
		"a name that is a novel":     {func(o *access.KeyOrder) { o.Name = strings.Repeat("n", 201) }, "name"},
		"it has expired":             {func(o *access.KeyOrder) { o.ExpiresAt = noon }, "expires_at"},
		"it expires in a moment":     {func(o *access.KeyOrder) { o.ExpiresAt = noon + 1 }, ""},
		"a hundred contracts":        {func(o *access.KeyOrder) { o.Limits.Contracts = many[:100] }, ""},
		"a long name that just fits": {func(o *access.KeyOrder) { o.Name = strings.Repeat("n", 200) }, ""},
	} {
		order := good
		c.change(&order)
		_, secret, err := access.MintKey(order, production, dice(1), noon)
		wrong, refused := errors.AsType[*access.OrderError](err)
		if (err == nil) != (c.field == "") || refused && wrong.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && secret.Reveal() != "" {
			t.Errorf("%s: refused, and there is a key", name)
		}
	}
}

func TestAFullKeyIsMadeInDevelopmentOnly(t *testing.T) {
	t.Parallel()
	scopes, _ := access.FullPreset.Scopes()
	order := access.KeyOrder{ID: "k", Name: "a key", Scopes: scopes, Sources: []string{"stripe"}}
	_, _, err := access.MintKey(order, production, dice(1), noon)
	if _, refused := errors.AsType[*access.SelfAttestError](err); !refused {
		t.Errorf("in production: %v", err)
	}
	if _, _, err := access.MintKey(order, development, dice(1), noon); err != nil {
		t.Errorf("in development: %v", err)
	}
}

func TestKeysDoNotCollide(t *testing.T) {
	t.Parallel()
	order := access.KeyOrder{ID: "k", Name: "a key", Scopes: access.ScopesOf(access.ActionsRead)}
	random := dice(3)
	texts, prefixes := map[string]bool{}, map[access.Prefix]bool{}
	for range 20_000 { // of 62^8 prefixes: two alike once in a million runs
		key, secret, err := access.MintKey(order, production, random, noon)
		if err != nil {
			t.Fatal(err)
		}
		if texts[secret.Reveal()] || prefixes[key.Prefix] {
			t.Fatalf("%s came twice", secret)
		}
		texts[secret.Reveal()], prefixes[key.Prefix] = true, true
	}
}

// Should two keys ever share a prefix, or a store find the wrong one, the hash
// still tells them apart.
func TestAKeyThatSharesAPrefixOpensNothingOfTheOther(t *testing.T) {
	t.Parallel()
	order := access.KeyOrder{ID: "k", Name: "a key", Scopes: access.ScopesOf(access.ActionsRead)}
	// The first draw is 51 bytes, of which the first 8 make the prefix. All are
	// below 248, so that none is thrown away.
	one, oneSecret, err := access.MintKey(order, production, strings.NewReader(strings.Repeat("p", 8)+strings.Repeat("a", 43)), noon)
	if err != nil {
		t.Fatal(err)
	}
	two, twoSecret, err := access.MintKey(order, production, strings.NewReader(strings.Repeat("p", 8)+strings.Repeat("a", 42)+"b"), noon)
	if err != nil {
		t.Fatal(err)
	}
	if one.Prefix != two.Prefix || oneSecret.Reveal() == twoSecret.Reveal() {
		t.Fatal("they are not as this test needs them")
	}
	for name, err := range map[string]error{
		"its own":              second(access.FromKey(oneSecret, one, production, access.REST, noon)),
		"the other's":          second(access.FromKey(oneSecret, two, production, access.REST, noon)),
		"the other way around": second(access.FromKey(twoSecret, one, production, access.REST, noon)),
	} {
		if _, unknown := errors.AsType[*access.UnknownKeyError](err); unknown == (name == "its own") {
			t.Errorf("%s: %v", name, err)
		}
	}
	misfiled := one
	misfiled.Prefix = "00000000"
	if err := second(access.FromKey(oneSecret, misfiled, production, access.REST, noon)); err == nil {
		t.Error("a record with another prefix was taken, and the audit would name it")
	}
}

func second(_ access.Principal, err error) error { return err }

func TestARotatedKeyAndItsSuccessorBothWorkUntilTheOverlapIsOver(t *testing.T) {
	t.Parallel()
	old, oldSecret := mint(t, access.ScopesOf(access.FactsWrite), func(o *access.KeyOrder) { o.Limits.Contracts = []string{"refunds"} })
	next, nextSecret, replaced, err := access.Rotate(old, access.Rotation{ID: "k-2", Overlap: 24 * time.Hour}, production, dice(5), noon)
	if err != nil {
		t.Fatal(err)
	}
	if next.Prefix == old.Prefix || replaced.ReplacedBy != next.Prefix || next.ID != "k-2" || next.ReplacedBy != "" {
		t.Errorf("%s was replaced by %s, and names %s", old.Prefix, next.Prefix, replaced.ReplacedBy)
	}
	same := cmpopts.IgnoreFields(access.Key{}, "ID", "Prefix", "Hash")
	if diff := cmp.Diff(old, next, same, cmp.AllowUnexported(access.Scopes{})); diff != "" {
		t.Errorf("the new key may something else (-old +new):\n%s", diff)
	}
	for after, wantOld := range map[time.Duration]bool{0: true, 24*time.Hour - time.Microsecond: true, 24 * time.Hour: false} {
		oldErr := second(access.FromKey(oldSecret, replaced, production, access.REST, noon.Add(after)))
		nextErr := second(access.FromKey(nextSecret, next, production, access.REST, noon.Add(after)))
		if (oldErr == nil) != wantOld || nextErr != nil {
			t.Errorf("after %s: old %v, new %v", after, oldErr, nextErr)
		}
	}
}

func TestRotationNeverLengthensTheOldKeysLife(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	for name, c := range map[string]struct {
		expires          value.Instant
		rotation         access.Rotation
		wantOld, wantNew value.Instant
	}{
		"at once":                    {0, access.Rotation{}, noon, 0},
		"it would have lived longer": {noon.Add(48 * hour), access.Rotation{Overlap: hour}, noon.Add(hour), noon.Add(48 * hour)},
		"it ends before the overlap": {noon.Add(hour), access.Rotation{Overlap: 48 * hour}, noon.Add(hour), noon.Add(hour)},
		"the new one lives longer":   {noon.Add(hour), access.Rotation{Overlap: hour, ExpiresAt: noon.Add(99 * hour)}, noon.Add(hour), noon.Add(99 * hour)},
	} {
		old, _ := mint(t, access.ScopesOf(access.ActionsRead), func(o *access.KeyOrder) { o.ExpiresAt = c.expires })
		next, _, replaced, err := access.Rotate(old, c.rotation, production, dice(6), noon)
		if err != nil || replaced.ExpiresAt != c.wantOld || next.ExpiresAt != c.wantNew {
			t.Errorf("%s: old until %s, new until %s, %v", name, replaced.ExpiresAt, next.ExpiresAt, err)
		}
	}
}

func TestOnlyAKeyThatWorksIsRotatedAndOnlyOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scopes    access.Scopes
		change    func(*access.Key)
		overlap   time.Duration
		workspace access.Workspace
		want      access.Code
	}{
		"revoked":                       {change: func(k *access.Key) { k.RevokedAt = noon }, want: access.Unauthenticated},
		"expired":                       {change: func(k *access.Key) { k.ExpiresAt = noon }, want: access.Unauthenticated},
		"another workspace's":           {workspace: access.Workspace{ID: other}, want: access.Unauthenticated},
		"replaced already":              {change: func(k *access.Key) { k.ReplacedBy = "4fT9xK2b" }, want: access.InvalidRequest},
		"an overlap back in time":       {overlap: -time.Second, want: access.InvalidRequest},
		"an overlap without end":        {overlap: access.MaxKeyOverlap + 1, want: access.InvalidRequest},
		"full, and development is over": {scopes: access.AllScopes(), want: access.Forbidden},
	} {
		if c.scopes.IsEmpty() {
			c.scopes = access.ScopesOf(access.ActionsRead)
		}
		if c.workspace.ID == "" {
			c.workspace = production
		}
		old, _ := mint(t, c.scopes)
		if c.change != nil {
			c.change(&old)
		}
		_, secret, kept, err := access.Rotate(old, access.Rotation{ID: "k-2", Overlap: c.overlap}, c.workspace, dice(7), noon)
		wantCode(t, name, err, c.want)
		if secret.Reveal() != "" || kept.ReplacedBy != old.ReplacedBy || kept.ExpiresAt != old.ExpiresAt {
			t.Errorf("%s: refused, and the old key changed or a new one is there", name)
		}
	}
}
