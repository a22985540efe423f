package setting

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Form is how a value is written.
type Form struct {
	// Placeholder stands for the value in help, as in --listen HOST:PORT.
	Placeholder string
	// Reads says in words what may be written.
	Reads   string
	choices []string
}

// The forms.
var (
	Text    = Form{Placeholder: "TEXT", Reads: "text"}
	File    = Form{Placeholder: "FILE", Reads: "path of a file"}
	Folder  = Form{Placeholder: "DIR", Reads: "path of a folder"}
	Command = Form{Placeholder: "COMMAND", Reads: "command for the shell"}
	URL     = Form{Placeholder: "URL", Reads: "URL"}
	Address = Form{Placeholder: "HOST:PORT", Reads: "host and port"}
	List    = Form{Placeholder: "A,B,…", Reads: "list, with commas between, or a YAML list in the file"}
	Span    = Form{Placeholder: "SPAN", Reads: "span of time, such as `90s` or `2m`"}
	Number  = Form{Placeholder: "N", Reads: "whole number"}
	Share   = Form{Placeholder: "SHARE", Reads: "number from 0 to 1"}
	Switch  = Form{Reads: "`true` or `false`; the flag alone is `true`"}
)

// Choice is one of some words.
func Choice(words ...string) Form {
	return Form{Placeholder: strings.Join(words, "|"), Reads: "`" + strings.Join(words, "`, `") + "`", choices: words}
}

// IsSwitch says that the flag needs no value.
func (f Form) IsSwitch() bool { return f.Placeholder == "" }

// resolve takes a relative path from a folder.
func (f Form) resolve(value, folder string) string {
	if !filepath.IsAbs(value) && (f.Placeholder == File.Placeholder || f.Placeholder == Folder.Placeholder) {
		return filepath.Join(folder, value)
	}
	return value
}

// check says whether a value has the form, where that can be told without
// reading it into a place.
func (f Form) check(value string) error {
	if len(f.choices) > 0 && !slices.Contains(f.choices, value) {
		return fmt.Errorf("%q is none of %s", value, strings.Join(f.choices, ", "))
	}
	return nil
}

func text(place func(*Config) *string) func(*Config, string) error {
	return func(c *Config, value string) error {
		*place(c) = value
		return nil
	}
}

func toggle(place func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, value string) error {
		switch strings.ToLower(value) {
		case "true", "yes", "on", "1":
			*place(c) = true
		case "false", "no", "off", "0":
			*place(c) = false
		default:
			return fmt.Errorf("%q is neither true nor false", value)
		}
		return nil
	}
}

// Duration is a span of time that is more than nothing.
type Duration = time.Duration

func span(place func(*Config) *Duration) func(*Config, string) error {
	return func(c *Config, value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is no span of time, as 90s and 2m are", value)
		}
		*place(c) = d
		return nil
	}
}

func number(most int, place func(*Config) *int) func(*Config, string) error {
	return func(c *Config, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > most {
			return fmt.Errorf("%q is no whole number from 0 to %d", value, most)
		}
		*place(c) = n
		return nil
	}
}

// split takes a list apart. Empty places in it are nothing.
func split(value string) []string {
	var all []string
	for one := range strings.SplitSeq(value, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

func address(place func(*Config) *string) func(*Config, string) error {
	return func(c *Config, value string) error {
		host, port, err := net.SplitHostPort(value)
		if err != nil {
			return fmt.Errorf("%q is no host and port, as 127.0.0.1:7373 is", value)
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || port != strconv.FormatUint(n, 10) {
			return fmt.Errorf("%q has no port from 0 to 65535", value)
		}
		*place(c) = net.JoinHostPort(host, port)
		return nil
	}
}

func networks(c *Config, value string) error {
	c.TrustedProxies = nil
	for _, one := range split(value) {
		network, err := netip.ParsePrefix(one)
		if err != nil {
			single, err := netip.ParseAddr(one)
			if err != nil {
				return fmt.Errorf("%q is no network, as 10.0.0.0/8 is, and no IP address", one)
			}
			network = netip.PrefixFrom(single, single.BitLen())
		}
		c.TrustedProxies = append(c.TrustedProxies, network.Masked())
	}
	return nil
}

func publicURL(c *Config, value string) error {
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return fmt.Errorf("%q is no URL, as https://deed.example.com is", value)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return fmt.Errorf("%q has more than a scheme and a host", value)
	case u.Scheme == "http" && !Loopback(u.Host):
		return fmt.Errorf("%q is plain HTTP to another machine: credentials would cross the network in the clear", value)
	}
	c.PublicURL = u.Scheme + "://" + u.Host
	return nil
}

func databaseURL(c *Config, value string) error {
	u, err := url.Parse(value)
	if err != nil { // the parser's error quotes the URL, and so a password in it
		return errors.New("it is no URL, as postgres://deed@localhost/deed is")
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return fmt.Errorf("there is no database %q; a PostgreSQL URL begins with postgres://", u.Scheme)
	}
	c.Database = value
	return nil
}

// hidden stands for a secret where a setting is shown.
const hidden = "HIDDEN"

// withoutPassword takes the passwords out of a database's URL.
func withoutPassword(value string) (shown string, found bool) {
	u, err := url.Parse(value)
	if err != nil {
		return hidden, true
	}
	if _, has := u.User.Password(); has {
		u.User, found = url.UserPassword(u.User.Username(), hidden), true
	}
	query := u.Query()
	for name := range query {
		if strings.Contains(strings.ToLower(name), "password") {
			query.Set(name, hidden)
			found = true
		}
	}
	if !found {
		return value, false
	}
	u.RawQuery = query.Encode()
	return u.String(), true
}

// wholly is for values that are secret as a whole.
func wholly(string) (shown string, found bool) { return hidden, true }

// Loopback says whether a host, with or without a port, is this machine alone.
// Names other than localhost are not looked up: what they mean can change.
func Loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}
