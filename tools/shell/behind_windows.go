package shell

import "errors"

// ResumeBehind is an error: nothing is stopped on this system.
func ResumeBehind(int) error { return errors.ErrUnsupported }
