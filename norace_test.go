//go:build !race

package throng

const raceEnabled = false
