package protocol

import (
	"encoding/json"
	"testing"
)

func TestCount(t *testing.T) {
	for said, want := range map[string]Count{"10": 10, "10.0": 10, `"10"`: 10, "-1": 0, `"NaN"`: 0, `"Inf"`: 1 << 30, "1e99": 1 << 30, "null": 0, "{}": 0, `"x"`: 0} {
		got := Count(7)
		if err := json.Unmarshal([]byte(said), &got); err != nil || got != want {
			t.Errorf("%s is %d, %v", said, got, err)
		}
	}
}
