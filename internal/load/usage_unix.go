//go:build unix

package load

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// CPUTime is what this process has used of all cores, user and system.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentBytes is the memory that this process has in use; zero where the system does not tell.
func residentBytes() uint64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := bytes.Fields(b)
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseUint(string(f[1]), 10, 64)
	return n * uint64(os.Getpagesize())
}

// busyTime is what all processes of the machine have used, of all cores; zero where the system does not tell.
func busyTime() time.Duration {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	var ticks uint64
	for i, f := range bytes.Fields(line) {
		if i == 0 || i == 4 || i == 5 || i > 7 { // cpu, idle, waiting, guests
			continue
		}
		n, _ := strconv.ParseUint(string(f), 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100
}
