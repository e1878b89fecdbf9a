package archtest

import (
	"os"
	"testing"
)

// TestRepository holds the whole module against its rules.
func TestRepository(t *testing.T) {
	tree, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if tree.Packages["internal/archtest"] == nil || tree.Texts[gateFile] == "" {
		t.Fatal("the tree lacks this package or the gate: nothing was checked")
	}
	for _, c := range Checks {
		t.Run(c.Name, func(t *testing.T) {
			for _, p := range c.Find(tree, &Repository) {
				t.Errorf("%s", p)
			}
		})
	}
}
