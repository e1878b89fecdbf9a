package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// versionCommand tells what to name in a bug report.
type versionCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// build is where a program comes from. The revision is missing where it was built without version control.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// versionFlag is the flag that many try first.
type versionFlag bool

// BeforeReset prints the version before anything is read that could be wrong or missing.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	defer app.Exit(0)
	return new(versionCommand).Run(console{app.Stdout, app.Stderr})
}

// Run prints the version.
func (c *versionCommand) Run(con console) error {
	b := thisBuild()
	if c.JSON {
		return json.NewEncoder(con.out).Encode(b)
	}
	line := "throng " + b.Version
	if b.Revision != "" {
		line += " " + b.Revision[:min(len(b.Revision), 12)]
	}
	if b.Modified {
		line += " (modified)"
	}
	_, err := fmt.Fprintln(con.out, line, b.Go, b.Platform)
	return err
}

func thisBuild() build {
	b := build{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
