package settings

import "slices"

// EachHooks calls found with the value of the key hooks of each file, an object or a value that is not
// understood, the weakest file first, and with a function that returns the line of a key below it.
func (s *Settings) EachHooks(found func(src Source, hooks any, line func(path ...string) int)) {
	for i := range s.layers {
		l := &s.layers[i]
		hooks, ok := l.tree["hooks"]
		if slices.ContainsFunc(l.Problems, func(p Problem) bool { return p.unfit && slices.Equal(p.path, []string{"hooks"}) }) {
			hooks, ok = l.doc.Written([]string{"hooks"}), true
		}
		if ok {
			found(l.Source, hooks, func(path ...string) int {
				line, _ := l.doc.Position(l.written(append([]string{"hooks"}, path...)))
				return line
			})
		}
	}
}
