package main

import (
	"net/http"
	"reflect"
	"strings"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/relay"
)

// metrics serves the counters of a relay and its socket, beside those of the program.
func metrics(r *relay.Server, l *udp.Listener) http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(&collector{r, l}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// collector reads the counters when somebody asks for them. Counting costs the relay nothing that way.
type collector struct {
	relay *relay.Server
	udp   *udp.Listener
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("throng_"+name, help, labels, nil)
}

var (
	descSessions = describe("sessions", "Sessions in all worlds.")
	descWorlds   = describe("worlds", "Worlds that exist.")
	descEntities = describe("entities", "Entities in all worlds.")
	descJoined   = describe("joined_total", "Sessions that entered a world.")
	descPackets  = describe("payload_packets_total", "Payloads between sessions and the relay, as the relay sees them.", "direction")
	descBytes    = describe("payload_bytes_total", "Bytes of these payloads.", "direction")
	descRefused  = describe("refused_total", "Sessions that the relay refused or ended.", "reason")

	descDatagrams  = describe("udp_datagrams_total", "Datagrams of the socket.", "direction")
	descUDPBytes   = describe("udp_bytes_total", "UDP payload of these datagrams.", "direction")
	descLost       = describe("udp_unsent_total", "Datagrams that the system did not take.")
	descDropped    = describe("udp_dropped_total", "Datagrams that were ignored.", "reason")
	descHandshakes = describe("udp_handshakes", "Handshakes that are not finished.")

	replication = replicationDescs()
)

// replicationDescs are one counter for each field of relay.Replication.
func replicationDescs() []*prometheus.Desc {
	t := reflect.TypeFor[relay.Replication]()
	descs := make([]*prometheus.Desc, t.NumField())
	for i := range descs {
		name := snake(t.Field(i).Name)
		descs[i] = describe("replication_"+name+"_total", "Counter "+t.Field(i).Name+" of relay.Replication.")
	}
	return descs
}

// snake is HostChange as host_change.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Describe is part of prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descSessions, descWorlds, descEntities, descJoined, descPackets, descBytes, descRefused,
		descDatagrams, descUDPBytes, descLost, descDropped, descHandshakes} {
		ch <- d
	}
	for _, d := range replication {
		ch <- d
	}
}

// Collect is part of prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	level := func(d *prometheus.Desc, v int) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v))
	}
	count := func(d *prometheus.Desc, v uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	st, u := c.relay.Stats(), c.udp.Stats()
	level(descSessions, st.Sessions)
	level(descWorlds, st.Worlds)
	level(descEntities, st.Entities)
	count(descJoined, st.Joined)
	count(descPackets, st.In, "in")
	count(descPackets, st.Out, "out")
	count(descBytes, st.BytesIn, "in")
	count(descBytes, st.BytesOut, "out")
	for reason, n := range st.Refused {
		count(descRefused, n, reason)
	}
	count(descDatagrams, u.In, "in")
	count(descDatagrams, u.Out, "out")
	count(descUDPBytes, u.BytesIn, "in")
	count(descUDPBytes, u.BytesOut, "out")
	count(descLost, u.Lost)
	for reason, n := range u.Dropped {
		count(descDropped, n, reason)
	}
	level(descHandshakes, u.Handshakes)
	for i, v := 0, reflect.ValueOf(st.Replication); i < v.NumField(); i++ {
		count(replication[i], v.Field(i).Uint())
	}
}
