package redact

import "bytes"

// verdict is what a name says about its value.
type verdict uint8

const (
	plainName  verdict = iota
	secretName         // a secret, whatever it looks like
	tokenName          // a secret, unless it is a small number
	keyName            // a secret, if it looks like one
	queryName          // a secret in a URL's query, if it looks like one
	signName           // a secret in a URL's query, always
	authName           // a header's credentials, after their scheme
	cookieName         // cookies
	cardName           // a payment card's number, if it is one
	pinName            // a short number that opens something
	pathName           // a password, unless it looks like a path (PWD)
	seedName           // the words of a wallet, or a long random seed
	stateName          // opaque, and kept: cursors, page tokens, state
)

// strongWords are names whose value is secret when they come last, as in
// db_password. What is said of a secret (secret_name, password_policy) has
// another last word and stays.
var strongWords = map[string]verdict{
	"password": secretName, "passwords": secretName, "passwd": secretName, "passphrase": secretName, "passcode": secretName,
	"passwort": secretName, "kennwort": secretName, "contraseña": secretName, "contrasena": secretName, "senha": secretName,
	"motdepasse": secretName, "wachtwoord": secretName, "hasło": secretName, "haslo": secretName, "salasana": secretName,
	"lösenord": secretName, "parola": secretName, "пароль": secretName, "Пароль": secretName, "密码": secretName, "密碼": secretName,
	"パスワード": secretName, "비밀번호": secretName,
	"secret": secretName, "secrets": secretName, "credential": secretName, "credentials": secretName, "creds": secretName,
	"apikey": secretName, "apikeys": secretName, "apitoken": secretName, "secretkey": secretName, "privatekey": secretName, "authkey": secretName,
	"accountkey": secretName, "sharedaccesskey": secretName, "sharedaccesssignature": secretName, "masterkey": secretName,
	"encryptionkey": secretName, "signingkey": secretName, "bearer": secretName, "psk": secretName, "totp": secretName, "otp": secretName,
	"sessid": keyName, "phpsessid": keyName, "jsessionid": keyName, "aspsessionid": keyName, "accesskey": keyName,
	"jwt": tokenName, "token": tokenName, "authtoken": tokenName, "accesstoken": tokenName, "pw": keyName, "pass": keyName, "auth": keyName,
	"pwd": pathName, "authorization": authName, "authorisation": authName, "cookie": cookieName, "cookies": cookieName,
	"cvv": pinName, "cvc": pinName, "csc": pinName, "pin": pinName, "pan": cardName, "cardnumber": cardName, "ccnumber": cardName,
	"creditcard": cardName, "mnemonic": seedName, "mnemonics": seedName, "seedphrase": seedName, "recoveryphrase": seedName,
	"sig": signName, "signature": signName, "sas": signName, "hmac": signName, "code": queryName, "key": queryName,
	"cursor": stateName, "state": stateName, "continuation": stateName,
}

// trailers are words that say which or in what form, and are passed over at
// the end of a name: password_hash, token2, new_password_confirm.
var trailers = map[string]bool{
	"value": true, "val": true, "hash": true, "hashed": true, "raw": true, "plain": true, "plaintext": true, "encoded": true,
	"encrypted": true, "enc": true, "b": true, "base": true, "confirm": true, "confirmation": true, "repeat": true, "again": true,
	"old": true, "new": true, "current": true, "prod": true, "production": true, "dev": true, "staging": true,
	"primary": true, "secondary": true, "header": true, "env": true, "default": true, "main": true, "backup": true,
}

// notSecretTokens are words before "token" that make it a count, a piece of
// text or a place in a listing.
var notSecretTokens = map[string]verdict{
	"next": stateName, "page": stateName, "continuation": stateName, "pagination": stateName, "sync": stateName, "resume": stateName,
	"resumption": stateName, "cursor": stateName, "change": stateName, "start": stateName, "progress": stateName, "scroll": stateName,
	"max": plainName, "min": plainName, "per": plainName, "total": plainName, "input": plainName, "output": plainName, "prompt": plainName,
	"completion": plainName, "cached": plainName, "reasoning": plainName, "eos": plainName, "bos": plainName, "pad": plainName, "unk": plainName,
	"mask": plainName, "sep": plainName, "cls": plainName, "stop": plainName, "special": plainName, "first": plainName, "last": plainName,
	"num": plainName, "new": plainName, "cancellation": plainName, "idempotency": plainName, "erc": plainName, "native": plainName,
}

// secretTokens are words before "tokens", which without one are counts.
var secretTokens = map[string]bool{
	"access": true, "refresh": true, "auth": true, "api": true, "bearer": true, "session": true, "csrf": true, "xsrf": true, "bot": true,
}

// keyOwners are words before "key" that make it open something.
var keyOwners = map[string]verdict{
	"api": secretName, "access": secretName, "secret": secretName, "private": secretName, "priv": secretName, "encryption": secretName,
	"encrypt": secretName, "decryption": secretName, "signing": secretName, "signer": secretName, "master": secretName, "auth": secretName,
	"authentication": secretName, "admin": secretName, "ssh": keyName, "webhook": secretName, "deploy": keyName, "consumer": keyName,
	"subscription": keyName, "integration": keyName, "ingest": keyName, "ingestion": keyName, "write": keyName, "session": keyName,
	"symmetric": secretName, "aes": secretName, "hmac": secretName, "rsa": keyName, "ecdsa": keyName, "pgp": keyName, "gpg": keyName, "tls": keyName,
	"ssl": keyName, "jwt": secretName, "cipher": secretName, "wallet": secretName, "license": keyName, "licence": keyName, "service": keyName,
	"storage": keyName, "account": keyName, "shared": secretName, "app": keyName, "application": keyName, "function": keyName, "role": keyName,
	"root": keyName, "recovery": secretName, "registration": keyName, "login": keyName, "user": keyName, "wifi": secretName, "wpa": secretName,
	"auth0": keyName,
}

// vendors are names that make NAME_KEY an API key.
var vendors = wordSet(`openai anthropic claude gemini google gcp maps aws azure twilio sendgrid mailgun algolia datadog dd newrelic cohere
	groq mistral huggingface hf replicate pinecone supabase firebase github gitlab slack discord telegram notion airtable linear
	fastly cloudflare cf heroku vercel okta mapbox square paypal shopify plaid stripe deed commitlayer tavily brave exa serper
	serpapi firecrawl elevenlabs deepgram perplexity xai together fireworks openrouter deepseek netlify digitalocean pagerduty sentry`)

// codeOwners are words before "code" that make it open something.
var codeOwners = wordSet(`otp mfa tfa fa auth authorization verification recovery backup device totp sms login oauth`)

// passOwners are words before "pass", which without one counts successes.
var passOwners = wordSet(`db database smtp imap user admin root mysql pg ftp sftp ssh email mail login sudo wifi http proxy redis mongo auth my account ldap`)

// secretEndings are found at the end of a word that was written without a
// break: dbpassword, PGPASSWORD, clientsecret.
var secretEndings = []struct {
	ending string
	means  verdict
}{
	{"password", secretName},
	{"passwd", secretName},
	{"passphrase", secretName},
	{"apikey", secretName},
	{"secret", secretName},
	{"secretkey", secretName},
	{"privatekey", secretName},
	{"token", tokenName},
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range bytes.Fields([]byte(words)) {
		set[string(w)] = true
	}
	return set
}

const (
	longestName = 80 // a longer one is prose
	mostWords   = 8  // of a name, from its end
)

// judgeName says what a name means for its value. It splits the name into
// words at every mark and at camelCase, so that accessToken, ACCESS_TOKEN,
// access-token and "access token" are one name.
func judgeName(name []byte) verdict {
	if len(name) < 2 || len(name) > longestName {
		return plainName
	}
	var buffer [longestName]byte
	var words [mostWords][]byte
	list := splitWords(name, buffer[:0], words[:0])
	for len(list) > 1 && trailers[string(list[len(list)-1])] {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		return plainName
	}
	last := list[len(list)-1]
	var before []byte
	if len(list) > 1 {
		before = list[len(list)-2]
	}
	return judgeWords(list, before, last)
}

func judgeWords(list [][]byte, before, last []byte) verdict {
	switch string(last) {
	case "token", "jwt":
		if v, ok := notSecretTokens[string(before)]; ok {
			return v
		}
		return tokenName
	case "tokens":
		if secretTokens[string(before)] {
			return secretName
		}
		return plainName
	case "key", "keys":
		if v, ok := keyOwners[string(before)]; ok {
			return v
		}
		for _, w := range list[:len(list)-1] {
			if vendors[string(w)] && string(before) != "public" {
				return keyName
			}
		}
		if before == nil && len(last) == 3 {
			return queryName
		}
		return plainName
	case "code", "codes":
		if codeOwners[string(before)] {
			return secretName
		}
		if string(before) == "security" {
			return pinName
		}
		if before == nil {
			return queryName
		}
		return plainName
	case "pass":
		if passOwners[string(before)] {
			return secretName
		}
		return keyName
	case "phrase", "words", "seed":
		switch string(before) {
		case "seed", "recovery", "mnemonic", "secret", "wallet", "backup":
			return seedName
		case "pass":
			return secretName
		}
		return plainName
	case "number", "no", "num":
		if b := string(before); b == "card" || b == "cc" || b == "pan" {
			return cardName
		}
		return plainName
	case "verifier":
		if string(before) == "code" {
			return secretName
		}
		return plainName
	case "assertion":
		if string(before) == "client" {
			return secretName
		}
		return plainName
	case "id":
		if string(before) == "secret" {
			return keyName // Vault calls one half of a login so
		}
		if string(before) == "sess" {
			return keyName
		}
		return plainName
	case "passe":
		if string(before) == "de" {
			return secretName
		}
		return plainName
	case "card":
		if b := string(before); b == "credit" || b == "debit" {
			return cardName
		}
		return plainName
	}
	if v, ok := strongWords[string(last)]; ok {
		if v == signName && before != nil && string(before) != "amz" && string(before) != "goog" && string(before) != "access" {
			return plainName
		}
		return v
	}
	return judgeEnding(last)
}

func judgeEnding(word []byte) verdict {
	for _, e := range secretEndings {
		rest, ok := bytes.CutSuffix(word, []byte(e.ending))
		if !ok || len(rest) == 0 {
			continue
		}
		if e.means == tokenName {
			for _, listing := range []string{"page", "next", "sync", "cursor", "continuation", "max", "progress"} {
				if bytes.HasSuffix(rest, []byte(listing)) {
					return stateName
				}
			}
		}
		return e.means
	}
	return plainName
}

// splitWords appends the last words of name, in small letters, to list. The
// letters are kept in buffer, which must be large enough for all of them.
func splitWords(name, buffer []byte, list [][]byte) [][]byte {
	start := 0
	flush := func() {
		if len(buffer) > start {
			if len(list) == cap(list) {
				copy(list, list[1:])
				list = list[:len(list)-1]
			}
			list = append(list, buffer[start:])
		}
		start = len(buffer)
	}
	for i, c := range name {
		k := classes[c]
		switch {
		case k&upper != 0:
			if i > 0 && (is(name[i-1], lower) || is(name[i-1], upper) && i+1 < len(name) && is(name[i+1], lower)) {
				flush()
			}
			buffer = append(buffer, c|0x20)
			continue
		case k&(lower|beyondASCII) != 0:
			buffer = append(buffer, c)
			continue
		}
		flush()
	}
	flush()
	return list
}

// names remembers what was judged: a result of ten thousand rows has the same
// dozen names in each.
type names struct {
	slots [256]nameSlot
}

type nameSlot struct {
	size  uint8
	means verdict
	name  [30]byte
}

// judge is judgeName with memory.
func (n *names) judge(name []byte) verdict {
	if len(name) < 2 || len(name) > longestName {
		return plainName
	}
	if n == nil || len(name) > len(nameSlot{}.name) {
		return judgeName(name)
	}
	// The length and three of its letters tell the names of one result apart
	// well enough, and a slot that is shared costs no more than judging again.
	h := uint32(len(name))*0x9E3779B1 ^ uint32(name[0])*0x85EBCA6B ^ uint32(name[len(name)/2])*0xC2B2AE35 ^ uint32(name[len(name)-1])*0x27D4EB2F
	slot := &n.slots[h>>24]
	if int(slot.size) == len(name) && bytes.Equal(slot.name[:slot.size], name) {
		return slot.means
	}
	slot.size, slot.means = uint8(len(name)), judgeName(name)
	copy(slot.name[:], name)
	return slot.means
}
