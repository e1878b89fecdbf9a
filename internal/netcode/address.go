package netcode

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// The address list of a token, at most 32 entries:
//
//	+-------------+ +------+---------------------+--------+
//	|  count u32  | | 1 u8 | a b c d, 4 bytes    | port u16|   IPv4
//	+-------------+ +------+---------------------+--------+
//	                | 2 u8 | 8 groups, each u16  | port u16|   IPv6
//	                +------+---------------------+--------+
const (
	addrIPv4 = 1
	addrIPv6 = 2
)

var errAddrs = errors.New("throng: connect token: address list is malformed: mint a new token")

func appendAddrs(b []byte, addrs []netip.AddrPort) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(addrs)))
	for _, a := range addrs {
		ip := a.Addr().Unmap()
		if ip.Is4() {
			q := ip.As4()
			b = append(append(b, addrIPv4), q[:]...)
		} else {
			q := ip.As16()
			b = append(b, addrIPv6)
			// The groups are numbers, so they are little-endian like every number: the bytes change places in pairs.
			for i := 0; i < len(q); i += 2 {
				b = append(b, q[i+1], q[i])
			}
		}
		b = binary.LittleEndian.AppendUint16(b, a.Port())
	}
	return b
}

// parseAddrs appends the addresses at the start of b to addrs and returns how many bytes they took.
func parseAddrs(addrs []netip.AddrPort, b []byte) ([]netip.AddrPort, int, error) {
	if len(b) < 4 {
		return addrs, 0, errAddrs
	}
	count := binary.LittleEndian.Uint32(b)
	if count < 1 || count > MaxAddrs {
		return addrs, 0, errAddrs
	}
	n := 4
	for range count {
		if len(b) < n+1 {
			return addrs, 0, errAddrs
		}
		var ip netip.Addr
		switch kind := b[n]; {
		case kind == addrIPv4 && len(b) >= n+7:
			ip = netip.AddrFrom4([4]byte(b[n+1 : n+5]))
			n += 5
		case kind == addrIPv6 && len(b) >= n+19:
			q := [16]byte(b[n+1 : n+17])
			for i := 0; i < len(q); i += 2 {
				q[i], q[i+1] = q[i+1], q[i]
			}
			ip = netip.AddrFrom16(q).Unmap()
			n += 17
		default:
			return addrs, 0, errAddrs
		}
		addrs = append(addrs, netip.AddrPortFrom(ip, binary.LittleEndian.Uint16(b[n:])))
		n += 2
	}
	return addrs, n, nil
}
