package throng

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"
)

type Vault struct {
	Entity
	Gold  int64  `rep:"auth,persist"`
	Owner string `rep:"auth,persist"`
	Door  struct {
		Open  bool
		Angle float32
	} `rep:"auth,persist"`
	Pos  Vec3  `rep:"position"`
	Seen int32 `rep:""`
}

// VaultLater is a later build's: a field moved, one has another type, one is new, one is gone.
type VaultLater struct {
	Entity
	Owner string `rep:"auth,persist"`
	Locks uint8  `rep:"auth,persist"`
	Gold  int64  `rep:"auth,persist"`
	Door  bool   `rep:"auth,persist"`
}

var (
	vaults      = MustSchema(NewClass[Vault]("vault", ClassConfig{}))
	vaultsLater = MustSchema(NewClass[VaultLater]("vault", ClassConfig{}))
)

func TestB118PersistRecordsOutliveBuilds(t *testing.T) {
	v := &Vault{Gold: 1 << 40, Owner: "ann", Seen: 7}
	v.Door.Open, v.Door.Angle = true, 1.5
	rec := vaults.AppendPersist(nil, v)
	back := &Vault{Seen: 3}
	if left, err := vaults.ReadPersist(back, rec); err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	if back.Gold != v.Gold || back.Owner != v.Owner || back.Door != v.Door || back.Seen != 3 {
		t.Errorf("came back as %+v", back)
	}
	later := &VaultLater{Locks: 2}
	left, err := vaultsLater.ReadPersist(later, rec)
	if err != nil || fmt.Sprint(left) != "[Door]" || later.Gold != v.Gold || later.Owner != "ann" || later.Locks != 2 || later.Door {
		t.Errorf("a later build reads %+v, leaves %v: %v", later, left, err)
	}
	if !vaults.Persists(v) || vaults.Persists(later) || vaults.ClassName(v) != "vault" || vaults.ClassName(later) != "" {
		t.Error("which class is whose")
	}
	// A value that cannot be kept is left out, the others are not.
	v.Door.Angle = float32(math.NaN())
	if _, err := vaults.ReadPersist(back, vaults.AppendPersist(nil, v)); err != nil || back.Gold != v.Gold {
		t.Errorf("with a NaN: %v", err)
	}
}

func TestB118DamagedRecordsChangeNothing(t *testing.T) {
	v := &Vault{Gold: 5, Owner: "ann"}
	rec := vaults.AppendPersist(nil, v)
	for n := range len(rec) {
		got := &Vault{Gold: 1}
		if _, err := vaults.ReadPersist(got, rec[:n]); !errors.Is(err, ErrPersist) || got.Gold != 1 || got.Owner != "" {
			t.Fatalf("%d of %d bytes: %+v, %v", n, len(rec), got, err)
		}
	}
	if _, err := vaults.ReadPersist(v, append(bytes.Clone(rec), 0)); err == nil {
		t.Error("read a record with more behind it")
	}
}

func FuzzReadPersist(f *testing.F) {
	f.Add(vaults.AppendPersist(nil, &Vault{Gold: 5, Owner: "ann"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		v := &Vault{}
		if _, err := vaults.ReadPersist(v, b); err != nil {
			return
		}
		again := &Vault{}
		if _, err := vaults.ReadPersist(again, vaults.AppendPersist(nil, v)); err != nil || again.Gold != v.Gold || again.Owner != v.Owner {
			t.Fatalf("%+v came back as %+v: %v", v, again, err)
		}
	})
}

func ExampleSchema_AppendPersist() {
	v := &Vault{Gold: 12}
	record := vaults.AppendPersist(nil, v) // into a store

	again := &Vault{}
	if _, err := vaults.ReadPersist(again, record); err != nil {
		fmt.Println(err)
	}
	fmt.Println(again.Gold)
	// Output: 12
}
