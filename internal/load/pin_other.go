//go:build !linux

package load

// Pin keeps this process on one core. It reports false where that cannot be done, such as on a machine without that core.
func Pin(int) bool { return false }

// Unpin undoes it, for a process that goes on to other work.
func Unpin() {}
