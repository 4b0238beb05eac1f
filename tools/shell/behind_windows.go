package shell

import "errors"

// ResumeBehind always fails: this system has no stopped processes.
func ResumeBehind(int) error { return errors.ErrUnsupported }
