package settings

// EachHooks calls found with what each file says under the key hooks, the weakest first, and
// with what tells the line of a key below it.
func (s *Settings) EachHooks(found func(src Source, hooks map[string]any, line func(path ...string) int)) {
	for i := range s.layers {
		l := &s.layers[i]
		if hooks, ok := l.tree["hooks"].(map[string]any); ok {
			found(l.Source, hooks, func(path ...string) int {
				line, _ := l.doc.Position(l.written(append([]string{"hooks"}, path...)))
				return line
			})
		}
	}
}
