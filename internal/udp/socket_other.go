//go:build !linux

package udp

import "net"

func newSocket(conn *net.UDPConn, size, buffer int, _ bool) (socket, error) {
	return newPortable(conn, size, buffer), nil
}
