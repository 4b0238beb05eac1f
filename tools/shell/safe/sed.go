package safe

import "gemline/tools/shell/script"

// sed reads the arguments of sed, of which the first is a script if no option
// is.
func sed(j *judge, u *usage) string {
	var scripts []string
	for _, o := range u.options {
		if o.name == "-e" || o.name == "--expression" {
			scripts = append(scripts, o.value)
		}
	}
	files := u.operands
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		if !script.Prints(s) {
			return "its script may do more than print: " + brief(s)
		}
	}
	for _, f := range files {
		if why := j.path(f); f != "-" && why != "" {
			return why
		}
	}
	return ""
}
