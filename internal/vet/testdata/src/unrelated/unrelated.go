// Package unrelated has rep tags that are not ours.
package unrelated

type Salesman struct {
	Area string   `rep:"north"`
	Next []string `rep:"none,none"`
}
