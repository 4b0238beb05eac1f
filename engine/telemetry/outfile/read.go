package outfile

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
)

// Read yields the attributes of each event in a file of this package, in either format. It skips
// spans and metrics. It ends at an unreadable event, with an error.
func Read(r io.Reader) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		for dec := json.NewDecoder(r); ; {
			var object map[string]any
			err := dec.Decode(&object)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if _, recorded := object["resource"]; recorded {
				object, _ = object["attributes"].(map[string]any) // nil for metrics
			}
			if name, _ := object["event.name"].(string); name != "" && !yield(object, nil) {
				return
			}
		}
	}
}
