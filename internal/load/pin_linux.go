package load

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Pin keeps this process on one core. It reports false where that cannot be done, such as on a machine without that core.
func Pin(cpu int) bool {
	var want unix.CPUSet
	want.Set(cpu)
	// A thread has the affinity of the one that made it: whoever is made while this looks is found by the next look.
	pinned := map[int]bool{}
	for {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return false
		}
		fresh := false
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || pinned[id] {
				continue
			}
			if err := unix.SchedSetaffinity(id, &want); err != nil && err != unix.ESRCH {
				return false
			}
			pinned[id], fresh = true, true
		}
		if !fresh {
			return true
		}
	}
}

// Unpin undoes it, for a process that goes on to other work.
func Unpin() {
	var all unix.CPUSet
	for i := range 1024 {
		all.Set(i)
	}
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.SchedSetaffinity(id, &all)
		}
	}
}
