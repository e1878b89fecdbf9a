package vet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"
)

// IsTool reports whether these arguments are those that go vet gives to a vettool: it asks for a version or for flags, or
// hands over a package.
func IsTool(args []string) bool {
	if len(args) == 0 {
		return false
	}
	flags, last := args[:len(args)-1], args[len(args)-1]
	others := slices.ContainsFunc(flags, func(a string) bool { return !strings.HasPrefix(a, "-") })
	return args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(last, ".cfg") && !others
}

// Tool is the main function of a vettool. It reads os.Args and does not return.
func Tool() { unitchecker.Main(Analyzers...) }

// Run runs go vet with this program, whose main function calls Tool, as the vettool. What is found is written to stderr. The
// status is that of go vet: not 0 if something was found. An error says that it could not be run.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("finding this program, to give it to go vet: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"vet", "-vettool=" + self}, args...)...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("running go vet: %w; is Go installed?", err)
	}
	return 0, nil
}
