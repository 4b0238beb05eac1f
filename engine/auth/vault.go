package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// patience is how long the keyring may take. Its service may ask the user a question that is not
// visible.
const patience = 3 * time.Second

// inRing says that a value is in the keyring.
const inRing = "keyring"

// A Vault stores secrets by the Gemini CLI's names of services and accounts: in the system's
// keyring or, without one, in a [File].
type Vault struct {
	file   File
	ring   keyring.Keyring // nil if it must not be used
	waited time.Duration
}

// NewVault returns the Vault whose file is in dir, the user's own directory.
// It opens nothing. Unless getenv says otherwise, the keyring comes first.
func NewVault(dir string, getenv func(string) string) Vault {
	v := Vault{file: newFile(dir), waited: patience}
	if !on(getenv("GEMINI_FORCE_FILE_STORAGE")) {
		v.ring = system{}
	}
	return v
}

// system is the keyring of the system.
type system struct{}

func (system) Get(s, user string) (string, error) { return keyring.Get(s, user) }
func (system) Set(s, user, secret string) error   { return keyring.Set(s, user, secret) }
func (system) Delete(s, user string) error        { return keyring.Delete(s, user) }
func (system) DeleteAll(s string) error           { return keyring.DeleteAll(s) }

// Get returns a value that fit accepts, and its place; both are empty if there is none.
func (v *Vault) Get(ctx context.Context, service, account string,
	fit func(string) bool) (value, from string, err error) {
	if v.ring != nil {
		value, err := v.wait(ctx, func() (string, error) { return v.ring.Get(service, account) })
		if err == nil && fit(value) {
			return value, inRing, nil
		}
		if err := ctx.Err(); err != nil {
			return "", "", err
		}
	} // after any error of the keyring, the file is tried
	if value, err = v.file.Get(service, account); err != nil || !fit(value) {
		return "", "", err
	}
	return value, "file " + v.file.Path, nil
}

// Set stores a value, replaces an older value, and returns the place. With filed, the place is
// always the file.
func (v *Vault) Set(ctx context.Context, service, account, value string, filed bool) (where string, err error) {
	if v.ring != nil && !filed {
		_, err := v.wait(ctx, func() (string, error) { return "", v.ring.Set(service, account, value) })
		if err == nil {
			v.file.Delete(ctx, service, account) // an error does not matter, since the keyring takes precedence
			return inRing, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	if err := v.file.Set(ctx, service, account, value); err != nil {
		return "", err
	}
	if v.ring != nil { // since the keyring takes precedence
		v.forget(ctx, service, account)
	}
	return "file " + v.file.Path, nil
}

// Delete deletes a value, and returns its places.
func (v *Vault) Delete(ctx context.Context, service, account string) (from []string, err error) {
	if v.ring != nil && v.forget(ctx, service, account) == nil {
		from = append(from, inRing)
	}
	had, err := v.file.Delete(ctx, service, account)
	if had {
		from = append(from, "file "+v.file.Path)
	}
	return from, err
}

// Clear deletes all values of a service. If the keyring did not answer, it may still have values.
func (v *Vault) Clear(ctx context.Context, service string) (answered bool, err error) {
	answered = true
	if v.ring != nil { // as with one value, only the file is reliable
		_, err := v.wait(ctx, func() (string, error) { return "", v.ring.DeleteAll(service) })
		answered = !errors.Is(err, errSlow)
	}
	return answered, v.file.Clear(ctx, service)
}

// forget removes a value from the keyring.
func (v *Vault) forget(ctx context.Context, service, account string) error {
	_, err := v.wait(ctx, func() (string, error) { return "", v.ring.Delete(service, account) })
	return err
}

// The errors of a keyring that does not answer, and of a library that panics over its answer.
var (
	errSlow = errors.New("the keyring does not answer")
	errFell = errors.New("the keyring can't be used")
)

// wait runs f with a timeout. Since f can't be stopped, it may continue after the timeout.
func (v *Vault) wait(ctx context.Context, f func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, v.waited, errSlow)
	defer cancel()
	type result struct {
		value string
		err   error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: errFell}
		defer func() { recover(); done <- r }() // a library's panic over foreign data
		r.value, r.err = f()
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// String says where values are kept, for error texts.
func (v *Vault) String() string {
	if v.ring == nil {
		return "file " + v.file.Path
	}
	return fmt.Sprintf("keyring or file %s", v.file.Path)
}
