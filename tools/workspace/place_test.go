package workspace

// ReadText reads where path leads.
func (w *Workspace) ReadText(path string) (*File, error) {
	p, err := w.Locate(path)
	if err != nil {
		return nil, err
	}
	return p.ReadText()
}

// Write writes where path leads.
func (w *Workspace) Write(path, text string, f Format) error {
	p, err := w.Locate(path)
	if err != nil {
		return writing(err, path)
	}
	return p.Write(text, f)
}
