//go:build race

package throng

const raceEnabled = true
