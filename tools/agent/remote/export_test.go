package remote

// Read reads something as a card, and as what an agent says.
func Read(b []byte) {
	parseCard(b)
	if s, err := decode(b); err == nil {
		a := transcript{tell: func(string) {}}
		a.add(s)
		a.answer()
	}
}
