package workspace

import "testing"

func limitFiles(*testing.T, uint64) {}
