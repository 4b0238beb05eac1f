package text

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Unmarshal is [json.Unmarshal], but changes no whole number in a value of type any: a number that
// a float64 would change, such as an id above 2^53, becomes a [json.Number]. A type with an
// UnmarshalJSON of its own calls Unmarshal there, too.
func Unmarshal(b []byte, v any) error {
	if !hasLongNumber(b) || !json.Valid(b) {
		return json.Unmarshal(b, v)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err := d.Decode(v)
	toNumbers(reflect.ValueOf(v))
	return err
}

// JSONNumber returns n as a float64, or n itself, if it is a whole number that a float64 would change.
func JSONNumber(n json.Number) any {
	f, err := n.Float64()
	if b, _ := json.Marshal(f); err != nil || string(b) != string(n) && strings.Trim(string(n), "-0123456789") == "" {
		return n
	}
	return f
}

// hasLongNumber reports whether b has 16 digits in a row, as each whole number above 2^53 has.
func hasLongNumber(b []byte) bool {
	const long, digits = 16, "0123456789"
	for i := long - 1; i < len(b); i += long {
		if strings.IndexByte(digits, b[i]) < 0 {
			continue
		}
		from := len(bytes.TrimRight(b[:i], digits))
		if len(b)-from-len(bytes.TrimLeft(b[from:], digits)) >= long {
			return true
		}
	}
	return false
}

// toNumbers replaces each [json.Number] in v by what [JSONNumber] returns.
func toNumbers(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if n, is := v.Interface().(json.Number); !is {
			toNumbers(v.Elem())
		} else if v.CanSet() && v.Kind() == reflect.Interface {
			v.Set(reflect.ValueOf(JSONNumber(n)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() || v.Type().Field(i).Anonymous && f.Kind() == reflect.Struct {
				toNumbers(f)
			}
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && v.Type().Elem().Kind() != reflect.Uint8; i++ {
			toNumbers(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			item := v.MapIndex(key)
			if n, is := item.Interface().(json.Number); is && item.Kind() == reflect.Interface {
				v.SetMapIndex(key, reflect.ValueOf(JSONNumber(n)))
			} else {
				toNumbers(item)
			}
		}
	}
}
