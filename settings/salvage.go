package settings

import (
	"fmt"
	"strings"

	"gemline/settings/jsonc"
)

// salvage replaces a number above the limit, or a value of a wrong type that may forbid something,
// by a safe value, and describes it. It returns false if there is no safe value. A number becomes
// the limit; a text becomes a list; of a list only the texts count; a switch becomes true; an
// object becomes a list with one entry.
func (k Key) salvage(v any) (out any, said string, ok bool) {
	if most, ok := k.above(v); ok {
		return most, fmt.Sprintf("%s; it counts as %s", k.mismatch(v), most), true
	}
	if object, is := v.(map[string]any); is && k.is(isObjects) && len(object) > 0 {
		return []any{v}, k.mismatch(v).Error() + "; it counts as a list of 1", true
	}
	path, err := SplitKey(k.Name)
	if forbids := strings.HasSuffix(k.Name, ".disabled") || strings.HasSuffix(k.Name, ".blocked"); !k.safety.strict && !forbids && (err != nil || !decides(path)) {
		return nil, "", false
	}
	list, isItems := v.([]any)
	text, isWord := v.(string)
	switch {
	case isArguments(k.Name):
		return nil, "", false // whether blanks separate arguments is unclear
	case k.is(isList) && isWord:
		if out, ok = spelled(isList, text); !ok {
			return nil, "", false
		}
		return out, fmt.Sprintf("%s; it counts as a list of %d", k.mismatch(v), len(out.([]any))), true
	case k.is(isList) && isItems:
		texts := []any{}
		for _, item := range list {
			if _, is := item.(string); is {
				texts = append(texts, item)
			} else if said == "" {
				said = fmt.Sprintf("%s must be a list of strings, and %s in it is passed over", shown(k.Name), jsonc.Describe(item))
			}
		}
		return texts, said, true
	case k.Type == isBool && k.safety.strict:
		return true, k.mismatch(v).Error() + "; it counts as true", true
	}
	return nil, "", false
}
