package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/throng-dev/throng/internal/vet"
)

// vetCommand gives go vet this program as its vettool. go vet calls it back with arguments of its own: see main.
type vetCommand struct {
	Args []string `arg:"" optional:"" name:"packages" help:"Flags of go vet or of the checks, then packages."`
}

// Run reports what go vet finds.
func (c *vetCommand) Run(ctx context.Context, con console) error {
	if len(c.Args) > 0 && (c.Args[0] == "-h" || c.Args[0] == "--help") { // all arguments come here unread
		return c.help(con)
	}
	var told bytes.Buffer
	status, err := vet.Run(ctx, c.Args, con.out, io.MultiWriter(con.err, &told))
	if err != nil || status == 0 {
		return err
	}
	if ctx.Err() == nil && !finding.Match(told.Bytes()) {
		return errTold // the go command did not come to look at code, and has said why
	}
	return errors.New("vet: mend what is listed above, or turn a check off, as in -rephint=false")
}

// finding is how a line of what go vet finds begins, after the path: a place in code.
var finding = regexp.MustCompile(`\.go:\d+(:\d+)?: `)

func (*vetCommand) help(con console) error {
	var b strings.Builder
	b.WriteString("Usage: throng vet [flags] [packages]\n\nRun go vet with checks for the use of Throng, as in `throng vet -rephint=false ./...`.\n\nFlags:\n")
	for _, a := range vet.Analyzers {
		first, _, _ := strings.Cut(a.Doc, "\n")
		fmt.Fprintf(&b, "  -%-12s %s\n", a.Name, first)
	}
	b.WriteString("\nNaming checks runs these alone, =false leaves one out. Flags of go build, such as -tags, may be given too.\n")
	_, err := fmt.Fprint(con.out, b.String())
	return err
}
