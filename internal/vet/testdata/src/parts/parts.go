// Package parts holds structs for classes of other packages. It does not know throng.
package parts

type Base struct {
	Seen bool  `rep:""`
	Best int   `rep:""`
	Kind int32 `rep:"knid"`
}

type Good struct {
	Level int32 `rep:""`
}

type Value struct{ Where *int32 }
