package vet

import (
	"strings"
	"testing"
)

func TestIsTool(t *testing.T) {
	for args, want := range map[string]bool{
		"":                         false,
		"-V=full":                  true,
		"-flags":                   true,
		"b001/vet.cfg":             true,
		"-worldgo -json b/vet.cfg": true,
		"./...":                    false,
		"-worldgo ./...":           false,
		"vet ./...":                false,
		"serve --config world.cfg": false,
		"serve world.cfg":          false,
		"version":                  false,
	} {
		if got := IsTool(strings.Fields(args)); got != want {
			t.Errorf("IsTool(%q) = %v", args, got)
		}
	}
}
