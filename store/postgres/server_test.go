package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a real PostgreSQL that the tests start and stop: its files in a directory of its own, a unix socket and no port.
type server struct {
	dir string
	bin string
	as  *syscall.Credential // who runs it: the server refuses to run as root
	cmd *exec.Cmd
	log bytes.Buffer

	exited chan struct{}
}

var shared *server

func TestMain(m *testing.M) {
	s, err := newServer()
	switch {
	case errors.Is(err, errNoServer):
		// Loud on purpose: a green run without a server has tested nothing of this package.
		fmt.Println("SKIPPED: store/postgres: " + err.Error())
		os.Exit(0)
	case err != nil:
		fmt.Println(err)
		os.Exit(1)
	}
	shared = s
	code := m.Run()
	s.stop()
	os.RemoveAll(s.dir)
	os.Exit(code)
}

var errNoServer = errors.New("no initdb found in PATH or /usr/lib/postgresql: install postgresql to run these tests")

func newServer() (*server, error) {
	bin := ""
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		slices.Sort(found)
		bin = filepath.Dir(found[len(found)-1])
	} else if path, err := exec.LookPath("initdb"); err == nil {
		bin = filepath.Dir(path)
	} else {
		return nil, errNoServer
	}
	dir, err := os.MkdirTemp("", "pg") // short: a socket's path has 107 bytes
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, bin: bin}
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, errors.Join(errNoServer, err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	init := s.command("initdb", "-D", filepath.Join(dir, "data"), "-U", "throng", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, s.start()
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT}
	return cmd
}

func (s *server) start() error {
	s.cmd = s.command("postgres", "-D", filepath.Join(s.dir, "data"), "-c", "listen_addresses=", "-c", "unix_socket_directories="+s.dir,
		"-c", "shared_buffers=32MB", "-c", "fsync=on")
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	// The kernel ends the server when the thread that started it ends: with the test process, whatever ends that. So the
	// thread must live as long.
	started, exited := make(chan error), make(chan struct{})
	s.exited = exited
	go func() {
		runtime.LockOSThread()
		started <- s.cmd.Start()
		_ = s.cmd.Wait()
		close(exited)
	}()
	if err := <-started; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		conn, err := pgx.Connect(ctx, s.url())
		if err == nil {
			tick.Stop()
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.stop()
			return fmt.Errorf("the server does not answer: %w\n%s", err, s.log.String())
		}
	}
}

// url is of the socket, never of a port.
func (s *server) url() string {
	return "postgres:///postgres?user=throng&sslmode=disable&host=" + url.QueryEscape(s.dir)
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGINT) // fast shutdown
	<-s.exited
}

// kill is what a power cut does to the server: no process of it says goodbye.
func (s *server) kill(t *testing.T) {
	t.Helper()
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.cmd.Process.Pid))
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	for _, c := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(c); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-s.exited
}
