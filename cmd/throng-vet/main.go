// Command throng-vet reports mistakes in the use of Throng that a compiler cannot see.
//
//	go vet -vettool=$(which throng-vet) ./...
//	throng-vet ./...                    the same
//	throng-vet -rephint=false ./...     without one of the checks
//	throng-vet help                     lists the checks
//
// It ends with status 0 if there is nothing to report, else with that of go vet. Beside other vettools, or instead of this
// one, throng vet does the same.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/throng-dev/throng/internal/vet"
)

func main() {
	args := os.Args[1:]
	if vet.IsTool(args) || len(args) > 0 && args[0] == "help" {
		vet.Tool()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	status, err := vet.Run(ctx, args, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "throng-vet:", err)
		status = 1
	}
	os.Exit(status)
}
