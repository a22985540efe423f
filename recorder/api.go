package recorder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"
)

// RecordingError says that an action could not be declared.
type RecordingError struct {
	ActionID string
	Status   int    // of the API's answer; 0 if there was none
	Code     string // error.code of the answer, if it has one
	err      error
}

func (e *RecordingError) Error() string {
	switch {
	case e.Status == 0:
		return fmt.Sprintf("declare %s: %v", shown(e.ActionID), e.err)
	case e.Code != "":
		return fmt.Sprintf("declare %s: the API answered %d (%s)", shown(e.ActionID), e.Status, e.Code)
	}
	return fmt.Sprintf("declare %s: the API answered %d%s", shown(e.ActionID), e.Status, because(e.err))
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// Unwrap is why there was no answer, or none that could be read.
func (e *RecordingError) Unwrap() error { return e.err }

// api posts declarations.
type api struct {
	endpoint string
	key      func() string // a function, so that printing the struct cannot show it
	client   *http.Client
	timeout  time.Duration
}

// answerLimit is how much of an answer is read.
const answerLimit = 1 << 20

// errNoAnswer of the API stands in front of it, such as a page to log in with.
var errNoAnswer = errors.New("it is not an answer of the API")

// declare posts one declaration. That it is known already, with the same
// content or with another, is as good as that it is new.
func (a *api) declare(ctx context.Context, actionID string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	failed := func(status int, code string, err error) error {
		return &RecordingError{ActionID: actionID, Status: status, Code: code, err: err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.endpoint, bytes.NewReader(body))
	if err != nil {
		return failed(0, "", errors.New("the API's address is no URL"))
	}
	request.Header.Set("x-api-key", a.key())
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return failed(0, "", a.plainly(err))
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	var answer struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	readable := json.Unmarshal(text, &answer) == nil
	switch {
	case response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated:
		return failed(response.StatusCode, word(answer.Error.Code), nil)
	case err != nil:
		return failed(0, "", a.plainly(err))
	case !readable:
		return failed(response.StatusCode, "", errNoAnswer)
	}
	return nil
}

// plainly says why there was no answer. The address is left out: it is the
// operator's own, and may hold more than a host.
func (a *api) plainly(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return fmt.Errorf("no answer within %s: %w", a.timeout, context.DeadlineExceeded)
	}
	return err
}

var isWord = regexp.MustCompile(`^[a-z_]{1,64}$`)

// word is a code of the API. Another text could say anything to whoever reads
// a log.
func word(code string) string {
	if isWord.MatchString(code) {
		return code
	}
	return ""
}
