package auth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/disk"
)

// maxFile is how large a file of credentials may be, in bytes.
const maxFile = 1 << 20

// An Account lists the places where the credentials of a Google account may be, in order. Only
// Read opens them.
type Account struct {
	// File is the path in GOOGLE_APPLICATION_CREDENTIALS. If it is set, the file must exist, and
	// all other places are ignored.
	File string

	// DefaultFile is the file that gcloud auth application-default login writes.
	DefaultFile string

	// Host is the metadata server of Google's machines, empty for its usual address.
	Host string

	cloud bool // the environment is that of a Google machine
}

// NewAccount returns the Account for an environment.
func NewAccount(getenv func(string) string, goos string) *Account {
	return account(Config{GOOS: goos}, func(name string) string { return strings.TrimSpace(getenv(name)) })
}

// account returns the Account for cfg.
func account(cfg Config, get func(string) string) *Account {
	a := &Account{File: get("GOOGLE_APPLICATION_CREDENTIALS"), Host: get("GCE_METADATA_HOST"),
		cloud: get("K_SERVICE")+get("GAE_SERVICE") != "" || on(get("CLOUD_SHELL")) ||
			on(get("GEMINI_CLI_USE_COMPUTE_ADC"))}
	const name = "application_default_credentials.json"
	switch dir, home := get("CLOUDSDK_CONFIG"), get("HOME"); {
	case dir != "":
		a.DefaultFile = filepath.Join(dir, name)
	case cfg.GOOS == "windows":
		if data := get("APPDATA"); data != "" {
			a.DefaultFile = filepath.Join(data, "gcloud", name)
		}
	case home != "":
		a.DefaultFile = filepath.Join(home, ".config", "gcloud", name)
	}
	return a
}

// Read returns the credentials and their file. If there is no file, both are empty, and the
// metadata server is the next place.
func (a *Account) Read() (data []byte, from string, err error) {
	const hint = "make the file with gcloud auth application-default login, or correct GOOGLE_APPLICATION_CREDENTIALS"
	from = a.File
	if from == "" {
		if from = a.DefaultFile; from == "" {
			return nil, "", nil
		}
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			return nil, "", nil
		}
	}
	data, err = disk.Read(from, maxFile)
	if err != nil {
		err = disk.Cause(err)
		return nil, from, &Error{Message: fmt.Sprintf("the credentials in %s can't be read: %v",
			from, err), Advice: hint, Err: err}
	}
	return data, from, nil
}

// absent reports whether there is neither a file of credentials nor a metadata server.
func (a *Account) absent() bool {
	_, from, _ := a.Read()
	return from == "" && !a.OnGoogleMachine()
}

// OnGoogleMachine reports whether this seems to be a machine of Google's, with an account of its
// own.
func (a *Account) OnGoogleMachine() bool {
	if a.cloud || a.Host != "" {
		return true
	}
	name, err := os.ReadFile("/sys/class/dmi/id/product_name")
	return err == nil && strings.HasPrefix(string(name), "Google")
}
