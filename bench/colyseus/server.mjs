// A Colyseus room with the crowd in it: each client is sent the walkers in its own chunk and the eight around it (StateView).
// It answers every line of standard input with its counters, and ends when its input does.
import http from "node:http";
import readline from "node:readline";
import { Server, Room, logger } from "@colyseus/core";
import { WebSocketTransport } from "@colyseus/ws-transport";
import { schema, t, StateView } from "@colyseus/schema";

const order = JSON.parse(process.argv[2]); // chunk, reach, side, intervalMs

const Walker = schema({ x: t.uint8(), z: t.uint8(), yaw: t.uint8(), anim: t.uint8() }, "Walker");
const Field = schema({ walkers: t.map(Walker).view() }, "Field");

const cellOf = (x, z) => ({ cx: Math.floor(x / order.chunk), cz: Math.floor(z / order.chunk) });

class FieldRoom extends Room {
  onCreate() {
    this.state = new Field();
    this.patchRate = order.intervalMs;
    this.maxClients = 100000;
    this.cells = new Map(); // "cx,cz" → entries
    this.onMessageBytes("s", (client, b) => this.moved(client.userData, b));
  }

  *near(cx, cz) {
    for (let dx = -order.reach; dx <= order.reach; dx++)
      for (let dz = -order.reach; dz <= order.reach; dz++) {
        const in_ = this.cells.get(`${cx + dx},${cz + dz}`);
        if (in_) yield* in_;
      }
  }

  onJoin(client, options) {
    client.view = new StateView();
    const w = new Walker();
    w.x = w.z = w.yaw = w.anim = 0;
    const e = { client, w, key: String(options.i), cx: NaN, cz: NaN, sees: new Set(), seenBy: new Set() };
    client.userData = e;
    this.state.walkers.set(e.key, w);
  }

  onLeave(client) {
    const e = client.userData;
    this.cells.get(`${e.cx},${e.cz}`)?.delete(e);
    for (const o of e.seenBy) { o.client.view.remove(e.w); o.sees.delete(e); }
    for (const o of e.sees) o.seenBy.delete(e);
    this.state.walkers.delete(e.key);
  }

  moved(e, b) {
    const v = new DataView(b.buffer, b.byteOffset, b.byteLength);
    const x = v.getInt16(0, true), z = v.getInt16(2, true);
    e.w.x = Math.floor((x / order.side + 0.5) * 255);
    e.w.z = Math.floor((z / order.side + 0.5) * 255);
    e.w.yaw = b[4];
    e.w.anim = b[5];
    const { cx, cz } = cellOf(x, z);
    if (cx === e.cx && cz === e.cz) return;
    this.cells.get(`${e.cx},${e.cz}`)?.delete(e);
    const at = `${cx},${cz}`;
    if (!this.cells.has(at)) this.cells.set(at, new Set());
    this.cells.get(at).add(e);
    e.cx = cx; e.cz = cz;
    const now = new Set(this.near(cx, cz));
    now.delete(e);
    for (const o of now) {
      if (e.sees.has(o)) continue;
      e.client.view.add(o.w); o.client.view.add(e.w);
      e.sees.add(o); o.seenBy.add(e); o.sees.add(e); e.seenBy.add(o);
    }
    for (const o of [...e.sees]) {
      if (now.has(o)) continue;
      e.client.view.remove(o.w); o.client.view.remove(e.w);
      e.sees.delete(o); o.seenBy.delete(e); o.sees.delete(e); e.seenBy.delete(o);
    }
  }
}

const server = new Server({ greet: false, transport: new WebSocketTransport({ server: http.createServer(), pingInterval: 0 }) });
server.define("field", FieldRoom);
await server.listen(0, "127.0.0.1");
const say = (o) => process.stdout.write(JSON.stringify(o) + "\n");
const port = server.transport.server.address().port;
say({ addr: `127.0.0.1:${port}` });
const lines = readline.createInterface({ input: process.stdin });
lines.on("line", () => {
  const c = process.cpuUsage();
  say({ cpu_us: c.user + c.system, rss: process.memoryUsage.rss() });
});
lines.on("close", () => process.exit(0));
