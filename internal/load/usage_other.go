//go:build !unix

package load

import "time"

// CPUTime is what this process has used of all cores; zero where the system does not tell.
func CPUTime() time.Duration { return 0 }

// residentBytes is the memory that this process has in use; zero where the system does not tell.
func residentBytes() uint64 { return 0 }

// busyTime is what all processes of the machine have used, of all cores; zero where the system does not tell.
func busyTime() time.Duration { return 0 }
