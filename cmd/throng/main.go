// Command throng is the command line of Throng.
//
//	throng demo     a relay with walking bots, shown in a browser
//	throng serve    a relay for a game
//	throng token    a connect token for one player
//	throng key      a new key that a relay shares with a backend
//	throng load     what a relay does under a crowd of clients, in numbers
//	throng trace    captures of what clients sent, received and dropped
//	throng vet      go vet with checks for the use of throng
//	throng version  what this program was built from
//
// Every command ends with status 0 or says on one line of standard error what went wrong, with what to do about it, and
// ends with status 1.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/throng-dev/throng/internal/vet"
)

// cli are the commands. Each is a struct of its flags with a method Run.
type cli struct {
	Demo    demoCommand    `cmd:"" help:"Run a relay and bots that carry lanterns about, and show them in a browser."`
	Serve   serveCommand   `cmd:"" help:"Run a relay."`
	Token   tokenCommand   `cmd:"" help:"Mint a connect token for one player."`
	Key     keyCommand     `cmd:"" help:"Write a new key file, for a relay and for the backend that mints its tokens."`
	Load    loadCommand    `cmd:"" help:"Measure a relay under a crowd of clients."`
	Trace   traceCommand   `cmd:"" help:"Record, show and compare what clients send, receive and drop."`
	Vet     vetCommand     `cmd:"" passthrough:"" help:"Run go vet with checks for the use of Throng."`
	Version versionCommand `cmd:"" help:"Print the version."`

	LoadChild loadChildCommand `cmd:"" hidden:""`

	Versioned versionFlag `name:"version" help:"Print the version."`
}

// console is what a command may write to.
type console struct {
	out, err io.Writer
}

func main() {
	if vet.IsTool(os.Args[1:]) { // go vet calls back: see vetCommand
		vet.Tool()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends the program at once
	}()
	os.Exit(run(ctx, os.Args[1:], console{os.Stdout, os.Stderr}))
}

// errTold is for what went wrong in another program that has said so itself.
var errTold = errors.New("see above")

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, con console) int {
	err := dispatch(ctx, args, con)
	if err == nil {
		return 0
	}
	if errors.Is(err, errTold) {
		return 1
	}
	fmt.Fprintln(con.err, "throng: "+strings.TrimPrefix(err.Error(), "throng: "))
	return 1
}

func dispatch(ctx context.Context, args []string, con console) error {
	var c cli
	helped := false
	parser, err := kong.New(&c,
		kong.Name("throng"),
		kong.Description("Multiplayer state replication: `throng demo` shows it."),
		kong.Writers(con.out, con.err),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(con),
	)
	if err != nil {
		return err
	}
	k, err := parser.Parse(args)
	var wrong *kong.ParseError
	switch {
	case helped:
		return nil
	case errors.As(err, &wrong):
		ask := "throng --help"
		if at := wrong.Context.Selected(); at != nil {
			ask = at.FullPath() + " --help"
		}
		return fmt.Errorf("%w: `%s` lists what there is", err, ask)
	case err != nil:
		return err
	}
	return k.Run()
}
