package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"syscall"
	"time"

	"github.com/throng-dev/throng/internal/inspect"
	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/relay"
)

// listenHTTP opens a port for pages, with an error that says what to do. The flag is what sets addr.
func listenHTTP(flag, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case inUse(err):
		return nil, choosePort("serving the page", flag, addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("serving the page on %s: this machine has no such address: use one of its own, such as 127.0.0.1:7777", addr)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("serving the page on %s: not allowed: ports under 1024 need privileges, choose one above", addr)
	}
	return nil, fmt.Errorf("serving the page on %s: %w: write it as HOST:PORT, such as 127.0.0.1:7777", addr, err)
}

// listenUDP is listenHTTP for the port of a relay.
func listenUDP(r *relay.Server, flag, addr string, public ...netip.AddrPort) (*udp.Listener, error) {
	l, err := r.ListenUDP(addr, public...)
	if err != nil && inUse(err) {
		return nil, choosePort("listening", flag, addr)
	}
	if err != nil {
		return nil, err
	}
	return l.(*udp.Listener), nil
}

func choosePort(doing, flag, addr string) error {
	host, _, _ := net.SplitHostPort(addr)
	return fmt.Errorf("%s on %s: port is in use: stop the other program or choose another port with %s %s",
		doing, addr, flag, net.JoinHostPort(host, "PORT"))
}

// inUse knows WSAEADDRINUSE, too: on Windows package syscall invents a number of its own for EADDRINUSE.
func inUse(err error) bool {
	var errno syscall.Errno
	return errors.Is(err, syscall.EADDRINUSE) || runtime.GOOS == "windows" && errors.As(err, &errno) && errno == 10048
}

// servePage serves the inspector, and what else there is, until stop is called.
func servePage(l net.Listener, h *inspect.Handler, more ...func(*http.ServeMux)) (stop func()) {
	mux := http.NewServeMux()
	mux.Handle("/", h)
	for _, add := range more {
		add(mux)
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	s.RegisterOnShutdown(h.Close)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(l) // it ends when the server is shut down; what else could fail is the socket
	}()
	return func() {
		h.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if s.Shutdown(ctx) != nil {
			s.Close()
		}
		<-done
	}
}

// loopbackOnly refuses what other machines can reach, for a key that everybody knows.
func loopbackOnly(flag, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%s %s: %w: write it as HOST:PORT, such as 127.0.0.1:9091", flag, addr, err)
	}
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.Unmap().IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s %s: other machines could reach it, and the development key is known to everybody: listen on 127.0.0.1, or make a key with `throng key FILE` and pass it with `throng serve --key FILE`", flag, addr)
}
