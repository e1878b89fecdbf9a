//go:build race

package delta

const raceEnabled = true
