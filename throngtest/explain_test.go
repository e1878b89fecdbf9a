package throngtest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

type purse struct {
	throng.Entity
	Name string `rep:""`
	Gold int32  `rep:"auth"`
}

// Explain does not say of a field of the authority's that the driver writes it.
func TestExplainTellsWhoWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, throng.MustSchema(throng.NewClass[purse]("purse", throng.ClassConfig{})))
		w := n.Join("ada", throng.Config{})
		p := &purse{Name: "ada's"}
		if err := w.Spawn(p); err != nil {
			t.Fatal(err)
		}
		n.Run(time.Second)
		x := w.Explain(p)
		if name, gold := x.Fields[0], x.Fields[1]; !name.Written || gold.Written || !strings.Contains(x.String(), "Name             written here\n  Gold             never received") {
			t.Error(x)
		}
	})
}
