package console

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALoginIsReadableByItsOwnerOnlyAndShowsNoToken(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "home")
	if _, err := FindLogin(folder); !errors.Is(err, ErrNoLogin) {
		t.Errorf("without a login: %v", err)
	}
	want := Login{Address: "https://deed.example.com", Token: "secret-token", Actor: "ada@example.com", Workspace: "Acme"}
	if err := want.Keep(folder); err != nil {
		t.Fatal(err)
	}
	if got, err := FindLogin(folder); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
	info, err := os.Stat(filepath.Join(folder, loginFile))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if shown := fmt.Sprintf("%v %+v %#v", want, want, want); strings.Contains(shown, "secret") {
		t.Errorf("printed as %s", shown)
	}
	if err := Forget(folder); err != nil {
		t.Error(err)
	}
	if err := Forget(folder); err != nil {
		t.Errorf("forgetting twice: %v", err)
	}
	if _, err := FindLogin(folder); !errors.Is(err, ErrNoLogin) {
		t.Errorf("after forgetting: %v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func TestASignInLinkIsTakenApart(t *testing.T) {
	t.Parallel()
	for link, want := range map[string][2]string{
		"https://deed.example.com/sign-in#abc":   {"https://deed.example.com", "abc"},
		"http://127.0.0.1:7373/below/sign-in#a-": {"http://127.0.0.1:7373/below", "a-"},
	} {
		address, token, err := ReadLink(link)
		if err != nil || address != want[0] || token != want[1] {
			t.Errorf("%s: %q, %q, %v", link, address, token, err)
		}
	}
	for _, bad := range []string{"", "abc", "https://deed.example.com/#abc", "https://deed.example.com/sign-in", "https://deed.example.com/sign-in?token=abc"} {
		if _, _, err := ReadLink(bad); err == nil || strings.Contains(err.Error(), "abc") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
