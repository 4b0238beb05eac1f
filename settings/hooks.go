package settings

// EachHooks calls found with what each file says under the key hooks, the weakest first.
func (s *Settings) EachHooks(found func(src Source, hooks map[string]any)) {
	for _, l := range s.layers {
		if hooks, ok := l.tree["hooks"].(map[string]any); ok {
			found(l.Source, hooks)
		}
	}
}
