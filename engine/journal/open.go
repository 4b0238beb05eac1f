package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/google/uuid"
	"google.golang.org/genai"
)

// Choice says which session to go on with.
type Choice struct {
	Resume bool   // one that was kept
	Which  string // see [Find]
	ID     string // of a session that begins; a made-up one if empty
}

// Opened is a session to work with.
type Opened struct {
	File        *File
	History     []*genai.Content
	Directories []string // that were worked in beside the project's
	Fresh       bool     // it begins, though another was to be resumed
}

// Open returns the session that choice names among those in cfg.Dir, or one
// that begins there, whose ID is choice's.
func Open(cfg Config, choice Choice) (Opened, error) {
	if choice.Resume {
		sessions, err := List(cfg.Dir)
		if err != nil {
			return Opened{}, err
		}
		found, err := Find(sessions, choice.Which)
		if err == nil {
			return resume(found.Path, cfg.Now)
		}
		if !errors.Is(err, ErrNone) {
			return Opened{}, err
		}
	}
	switch cfg.ID = choice.ID; {
	case cfg.ID == "":
		id, err := uuid.NewRandom()
		if err != nil {
			return Opened{}, err
		}
		cfg.ID = id.String()
	case !ValidID(cfg.ID):
		return Opened{}, errors.New("the id of a session is made of letters, digits, - and _")
	case Exists(cfg.Dir, cfg.ID):
		return Opened{}, fmt.Errorf("there is a session %s already; --resume %s goes on with it", cfg.ID, cfg.ID)
	}
	return Opened{File: New(cfg), Fresh: choice.Resume}, nil
}

func resume(path string, now func() time.Time) (Opened, error) {
	talk, err := Load(path)
	if err != nil {
		return Opened{}, err
	}
	if now == nil {
		now = time.Now
	}
	f, err := talk.Resume(now)
	if err != nil {
		return Opened{}, err
	}
	return Opened{File: f, History: talk.History, Directories: talk.Directories}, nil
}

// Print writes the sessions in dir as --list-sessions shows them, as text or
// as JSON.
func Print(w io.Writer, dir string, asJSON bool, now time.Time) error {
	sessions, err := List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !asJSON {
		_, err = io.WriteString(w, Text(sessions, "", now))
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(JSON(sessions, ""))
}
