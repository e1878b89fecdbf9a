// N Colyseus clients that walk, in one process. It says "ready" when all are in, "begin" opens the window, "end" closes it, and the
// end of its input ends it.
//
// One core cannot decode for all of them. So every few clients decode, and stand for the others, who only read what the server sends:
// the server does the same for each.
import readline from "node:readline";
import { Client, Callbacks } from "@colyseus/sdk";

const order = JSON.parse(process.argv[2]); // addr, clients, decoders, side, step, intervalMs, staleMs, chunk, reach
const say = (o) => process.stdout.write(JSON.stringify(o) + "\n");
const now = () => performance.now();
const frame = 1000 / 60;

const every = Math.max(1, Math.floor(order.clients / order.decoders));
const writes = []; // by client, then anim: when it was written
const cells = new Int32Array(order.clients * 2);
const seats = [], decoders = [];
let counting = false, updates = 0, messages = 0, samples = 0, fresh = 0, errors = 0, joined = 0;
const latency = new Uint32Array(30001); // 100 µs each

const cell = (v) => Math.floor(v / order.chunk);
const quantile = (q) => {
  let n = 0, all = latency.reduce((a, b) => a + b, 0);
  for (let i = 0; i < latency.length; i++) if ((n += latency[i]) >= q * all && all) return (i + 1) / 10;
  return 0;
};

class Seat {
  constructor(i) {
    this.i = i;
    this.x = order.side * (Math.random() - 0.5);
    this.z = order.side * (Math.random() - 0.5);
    this.anim = 0;
    this.phase = Math.random() * frame;
    this.held = new Map(); // walker → anim held
    writes[i] = new Float64Array(256);
  }

  async join() {
    const room = await new Client(`ws://${order.addr}`).joinOrCreate("field", { i: this.i });
    this.room = room;
    joined++;
    room.onError(() => errors++);
    room.onLeave(() => errors++);
    const patch = room.serializer.patch.bind(room.serializer);
    room.serializer.patch = (...args) => {
      messages++;
      if (this.i % every === 0) patch(...args);
    };
    if (this.i % every !== 0) return;
    decoders.push(this);
    const cb = Callbacks.get(room);
    cb.onAdd("walkers", (w, key) => {
      const who = Number(key);
      if (who === this.i) return;
      this.held.set(who, w.anim);
      cb.listen(w, "anim", (anim) => this.heard(who, anim), false);
    });
    cb.onRemove("walkers", (_, key) => this.held.delete(Number(key)));
  }

  // heard counts a change. A game applies it at its next frame.
  heard(who, anim) {
    if (this.held.get(who) === anim) return;
    this.held.set(who, anim);
    if (!counting) return;
    updates++;
    const t = now();
    const applied = t + frame - ((t - this.phase) % frame);
    latency[Math.min(30000, Math.max(0, Math.floor((applied - writes[who][anim]) * 10)))]++;
  }

  step() {
    const walk = (v) => Math.max(-order.side / 2, Math.min(order.side / 2, v + order.step * (2 * Math.random() - 1)));
    this.x = walk(this.x);
    this.z = walk(this.z);
    this.anim = (this.anim + 1) & 255;
    const b = new Uint8Array(6), v = new DataView(b.buffer);
    const x = Math.round(this.x), z = Math.round(this.z);
    v.setInt16(0, x, true);
    v.setInt16(2, z, true);
    b[4] = this.anim * 6;
    b[5] = this.anim;
    cells[2 * this.i] = cell(x);
    cells[2 * this.i + 1] = cell(z);
    writes[this.i][this.anim] = now();
    this.room.sendBytes("s", b);
  }

  received() { return this.room.connection.transport.ws._socket?.bytesRead ?? 0; }
}

for (let i = 0; i < order.clients; i++) seats.push(new Seat(i));
for (let i = 0; i < seats.length; i += 16) await Promise.all(seats.slice(i, i + 16).map((s) => s.join()));

// Random phases: each client sends once an interval.
for (const s of seats) s.next = now() + Math.random() * order.intervalMs;
setInterval(() => {
  const t = now();
  for (const s of seats) if (s.next <= t) { s.step(); s.next = Math.max(s.next + order.intervalMs, t - order.intervalMs); }
}, 4);

// Freshness: 1,000 random (observer, walker in reach) a second.
setInterval(() => {
  if (!counting) return;
  const t = now();
  for (let k = 0; k < 10; k++) {
    const o = decoders[Math.floor(Math.random() * decoders.length)];
    const near = [];
    for (const s of seats)
      if (s !== o && Math.abs(cells[2 * s.i] - cells[2 * o.i]) <= order.reach && Math.abs(cells[2 * s.i + 1] - cells[2 * o.i + 1]) <= order.reach) near.push(s);
    if (!near.length) continue;
    const s = near[Math.floor(Math.random() * near.length)];
    samples++;
    const anim = o.held.get(s.i);
    if (anim !== undefined && t - writes[s.i][anim] <= order.staleMs) fresh++;
  }
}, 10);

say({ ready: joined });
const lines = readline.createInterface({ input: process.stdin });
let from;
lines.on("line", (line) => {
  const c = process.cpuUsage();
  const at = { t: now(), messages, cpu: c.user + c.system, bytes: seats.reduce((n, s) => n + s.received(), 0) };
  if (line === "begin") {
    counting = true;
    from = at;
    say({});
    return;
  }
  counting = false;
  say({
    seconds: (at.t - from.t) / 1000, joined, updates: (updates * seats.length) / decoders.length, errors, bytes: at.bytes - from.bytes, messages: at.messages - from.messages, p50: quantile(0.5), p99: quantile(0.99),
    freshness: samples ? fresh / samples : 0, client_core: (at.cpu - from.cpu) / 1000 / (at.t - from.t),
  });
});
lines.on("close", () => process.exit(0));
