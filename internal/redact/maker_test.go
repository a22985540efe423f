package redact_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// maker makes up secrets from patterns, always the same ones for one seed.
type maker struct {
	random *rand.Rand
	pieces []string // the random parts of what was made last
}

func newMaker(seed uint64) *maker {
	return &maker{random: rand.New(rand.NewPCG(seed, 0x5eed))}
}

const (
	smallLetters = "abcdefghijklmnopqrstuvwxyz"
	bigLetters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	tenDigits    = "0123456789"
	base58       = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
)

var alphabets = map[string]string{
	"a": smallLetters + bigLetters + tenDigits,
	"L": smallLetters + bigLetters,
	"l": smallLetters + tenDigits,
	"w": smallLetters + bigLetters + tenDigits + "_-",
	"u": bigLetters + tenDigits,
	"h": tenDigits + "abcdef",
	"H": tenDigits + "ABCDEF",
	"d": tenDigits,
	"b": smallLetters + bigLetters + tenDigits + "+/",
	"s": base58,
	"B": bigLetters + "234567",
}

var hole = regexp.MustCompile(`\{([A-Za-z0-9]+)(?::(\d+))?\}`)

// fill makes up what a pattern leaves open. {name:n} holes that are not known
// stay as they are.
func (m *maker) fill(pattern string) string {
	m.pieces = nil
	return hole.ReplaceAllStringFunc(pattern, func(h string) string {
		parts := hole.FindStringSubmatch(h)
		n, _ := strconv.Atoi(parts[2])
		made, ok := m.make(parts[1], n)
		if !ok {
			return h
		}
		return made
	})
}

func (m *maker) letters(alphabet string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[m.random.IntN(len(alphabet))])
	}
	return b.String()
}

func (m *maker) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.random.Uint32())
	}
	return b
}

func (m *maker) make(kind string, n int) (string, bool) {
	if alphabet, ok := alphabets[kind]; ok && n > 0 {
		made := m.letters(alphabet, n)
		m.pieces = append(m.pieces, made)
		return made, true
	}
	var made string
	switch kind {
	case "uuid":
		h := m.letters(alphabets["h"], 32)
		made = h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
	case "jwt":
		head, _ := json.Marshal(map[string]any{"alg": "HS256", "typ": "JWT"})
		body, _ := json.Marshal(map[string]any{"sub": m.letters(tenDigits, 10), "name": m.letters(smallLetters, 9), "iat": 1705312345})
		encode := base64.RawURLEncoding.EncodeToString
		made = encode(head) + "." + encode(body) + "." + encode(m.bytes(32))
		m.pieces = append(m.pieces, strings.Split(made, ".")[1:]...)
		return made, true
	case "wif":
		made = m.base58Check(append([]byte{0x80}, append(m.bytes(32), 1)...))
	case "pem":
		return m.armour("RSA PRIVATE KEY", "", 600), true
	case "openssh":
		return m.armour("OPENSSH PRIVATE KEY", "", 300), true
	case "pgp":
		return m.armour("PGP PRIVATE KEY BLOCK", "Version: 1\n\n", 400), true
	case "basic":
		made = base64.StdEncoding.EncodeToString([]byte("deploy:" + m.letters(alphabets["a"], 17)))
	case "card":
		made = m.card()
	case "words":
		words := strings.Fields("abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid acoustic acquire across act action actor")
		m.random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		for len(words) < n {
			words = append(words, words...)
		}
		made = strings.Join(words[:n], " ")
	default:
		return "", false
	}
	m.pieces = append(m.pieces, made)
	return made, true
}

func (m *maker) armour(label, header string, size int) string {
	body := base64.StdEncoding.EncodeToString(m.bytes(size))
	var b strings.Builder
	// In two halves, so that nothing that looks for keys finds one here.
	fmt.Fprintf(&b, "-----BEG"+"IN %s-----\n%s", label, header)
	for len(body) > 0 {
		n := min(64, len(body))
		b.WriteString(body[:n] + "\n")
		m.pieces = append(m.pieces, body[:n])
		body = body[n:]
	}
	fmt.Fprintf(&b, "-----EN"+"D %s-----", label)
	return b.String()
}

func (m *maker) card() string {
	digits := "4" + m.letters(tenDigits, 14)
	for check := range 10 {
		number := digits + strconv.Itoa(check)
		sum := 0
		for i, c := range number {
			d := int(c - '0')
			if i%2 == 0 {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum += d
		}
		if sum%10 == 0 {
			return number[:4] + " " + number[4:8] + " " + number[8:12] + " " + number[12:]
		}
	}
	panic("one of ten digits is the check digit")
}

func (m *maker) base58Check(payload []byte) string {
	once := sha256.Sum256(payload)
	twice := sha256.Sum256(once[:])
	number := new(big.Int).SetBytes(append(payload, twice[:4]...))
	var out []byte
	for number.Sign() > 0 {
		var digit big.Int
		number.DivMod(number, big.NewInt(58), &digit)
		out = append([]byte{base58[digit.Int64()]}, out...)
	}
	return string(out)
}

func quote(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}
