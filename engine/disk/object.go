package disk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"gemline/engine/text"
)

// ChangeObject changes the members of the JSON object in a file, under a lock against other
// processes. An empty or missing file counts as an object without members.
func ChangeObject[V any](ctx context.Context, path string, change func(map[string]V)) error {
	const most = 1 << 20
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	path = ResolveLinks(path)
	return Change(ctx, path, 0o600, func() ([]byte, error) {
		all := map[string]V{}
		b, err := Read(path, most)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
		if len(b) > 0 && (json.Unmarshal(b, &all) != nil || all == nil) { // null makes it nil
			return nil, fmt.Errorf("%s holds no object; mend it or move it away", path)
		}
		change(all)
		b, err = text.JSON(all, "  ")
		return append(b, '\n'), err
	})
}
