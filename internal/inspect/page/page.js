// The page of the inspector. A frame (frame.go tells its shape) goes through decode and absorb into dots; draw moves the
// dots from where they are to where the frame says, and paints them. Texts of a frame come from players: they reach the
// document as text only, never as markup.
"use strict";

const $ = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const amber = "#ffb454", cyan = "#5ccfe6", gold = "#ffd75e", soft = "#93a1b5";

// ---- frames

function decode(raw) {
  const players = raw.players.map(([id, name, x, y, host]) => ({ id, name: name || brief(id), named: !!name, x, y, host: host === 1 }));
  const things = raw.things.map(([id, cls, x, y, owner, state]) => ({
    id, cls: raw.classes[cls], x, y, state: state || {},
    owner: typeof owner === "number" ? players[owner].id : owner,
  }));
  return { ...raw, players, things };
}

const brief = (id) => (id.length > 12 ? id.slice(0, 8) : id);
const walks = (cls) => cls === "walker" || cls === "player";

// ---- the world as it is drawn

const dots = new Map(); // what is on the map, by kind and id
let people = new Map(); // players, by id
let world = null; // the newest frame
let arrived = 0; // when it came
let pace = 200; // milliseconds between frames, smoothed
let turn = 0; // counts frames, to find dots that are gone

function absorb(frame) {
  const now = performance.now(), gap = now - arrived, first = !world || gap > 2000;
  if (!first) pace += (Math.min(gap, 1500) - pace) * 0.15;
  arrived = now;
  world = frame;
  turn++;
  people = new Map(frame.players.map((p) => [p.id, p]));
  // A walker is its owner's body: the player is then not drawn a second time. One body each.
  const bodies = new Set();
  for (const t of frame.things) {
    const player = walks(t.cls) && people.get(t.owner);
    const body = player && !bodies.has(player.id) && t.x !== null ? player : null;
    if (body) bodies.add(body.id);
    put("t" + t.id, t, t.cls, body, now, first);
  }
  for (const p of frame.players) if (!bodies.has(p.id)) put("p" + p.id, { ...p, owner: null, state: {} }, "player", p, now, first);
  for (const d of dots.values()) if (d.turn !== turn && !d.gone) d.gone = now;
}

function put(key, at, cls, player, now, first) {
  if (at.x === null || at.y === null) return;
  let d = dots.get(key);
  if (!d) {
    d = { key, id: at.id, born: first ? 0 : now, x: at.x, y: at.y, tx: at.x, ty: at.y, angle: null, aim: null, trail: [], phase: hash(key) * 7 };
    dots.set(key, d);
  }
  const far = Math.hypot(at.x - d.x, at.y - d.y) > 3 * (world.chunk_size || 1e9);
  if (Math.hypot(at.x - d.tx, at.y - d.ty) > 0.05 && !far) {
    d.aim = Math.atan2(at.y - d.ty, at.x - d.tx);
    if (d.angle === null) d.angle = d.aim;
  }
  if (first || far) {
    d.x = at.x;
    d.y = at.y;
    d.trail.length = 0;
  }
  Object.assign(d, { cls, state: at.state, owner: at.owner, player, fx: d.x, fy: d.y, tx: at.x, ty: at.y, since: now, turn, gone: 0 });
  if (walks(cls)) {
    d.trail.push(now, d.x, d.y);
    while (now - d.trail[0] > 2600) d.trail.splice(0, 3);
  }
}

// move brings every dot to where it is at this instant: on its way for a little longer than frames take to come, so that
// a late one finds it still moving.
function move(now, dt) {
  const span = pace * 1.15;
  for (const d of dots.values()) {
    const k = Math.min((now - d.since) / span, 1);
    d.x = d.fx + (d.tx - d.fx) * k;
    d.y = d.fy + (d.ty - d.fy) * k;
    if (d.aim !== null) {
      const off = Math.atan2(Math.sin(d.aim - d.angle), Math.cos(d.aim - d.angle));
      d.angle += off * Math.min(dt / 120, 1);
    }
    d.alpha = Math.min((now - d.born) / 300, 1);
    if (d.gone) d.alpha = Math.min(d.alpha, 1 - (now - d.gone) / 300);
    if (d.alpha < 0) dots.delete(d.key);
  }
}

function hash(s) {
  let h = 2166136261;
  for (let i = 0; i < s.length; i++) h = Math.imul(h ^ s.charCodeAt(i), 16777619);
  return (h >>> 0) / 4294967296;
}
const tints = new Map();
function tint(id) {
  if (!id) return "#8794a8";
  let c = tints.get(id);
  if (!c) {
    if (tints.size > 5000) tints.clear();
    const h = hash(id + "tint");
    c = "hsl(" + Math.round(150 + h * 190) + " 72% " + Math.round(62 + ((h * 97) % 1) * 12) + "%)"; // green to pink: amber is the lanterns'
    tints.set(id, c);
  }
  return c;
}

// ---- the camera

const map = $("map"), g = map.getContext("2d");
const cam = { x: 0, y: 0, z: 1 }, goal = { x: 0, y: 0, z: 1 };
let fitted = true, placed = false, wide = 1, high = 1, dpr = 1;
let pointer = null, hovered = null, selected = null, names = false, trails = true;

function extent() {
  if (world.bounds) return world.bounds;
  let r = null;
  for (const d of dots.values()) r = r ? [Math.min(r[0], d.tx), Math.min(r[1], d.ty), Math.max(r[2], d.tx), Math.max(r[3], d.ty)] : [d.tx, d.ty, d.tx, d.ty];
  const c = world.chunk_size || 100;
  if (!r) return [-2 * c, -2 * c, 2 * c, 2 * c];
  const x = Math.floor(r[0] / c) * c, y = Math.floor(r[1] / c) * c, up = (v, lo) => Math.max(Math.ceil(v / c) * c, lo + c);
  return [x, y, up(r[2], x), up(r[3], y)];
}

function fit() {
  const [x0, y0, x1, y1] = extent(), room = Math.min(56, wide / 10);
  goal.x = (x0 + x1) / 2;
  goal.y = (y0 + y1) / 2;
  goal.z = Math.min((wide - room) / Math.max(x1 - x0, 1e-6), (high - room) / Math.max(y1 - y0, 1e-6));
}

function follow(dt) {
  if (fitted && world) fit();
  if (selected) {
    goal.x = selected.x;
    goal.y = selected.y;
  }
  const k = placed && !calm.matches ? 1 - Math.exp(-dt / 90) : 1;
  placed = placed || !!world;
  cam.x += (goal.x - cam.x) * k;
  cam.y += (goal.y - cam.y) * k;
  cam.z *= Math.pow(goal.z / cam.z, k);
}

function zoom(by, px = wide / 2, py = high / 2) {
  fitted = false;
  const z = Math.min(Math.max(goal.z * by, 1e-5), 1e4);
  if (!selected) { // what is under the pointer stays there
    goal.x += (px - wide / 2) * (1 / goal.z - 1 / z);
    goal.y += (py - high / 2) * (1 / goal.z - 1 / z);
  }
  goal.z = z;
}

function pan(dx, dy, now) {
  fitted = false;
  selected = null;
  goal.x -= dx / goal.z;
  goal.y -= dy / goal.z;
  if (now) Object.assign(cam, goal);
}

const sx = (x) => (x - cam.x) * cam.z + wide / 2;
const sy = (y) => (y - cam.y) * cam.z + high / 2;

// ---- drawing

let last = 0, onView = [];
function draw(now) {
  requestAnimationFrame(draw);
  const dt = Math.min(now - last, 100);
  last = now;
  resize();
  if (world) move(performance.now(), dt);
  follow(dt);
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
  g.globalAlpha = 1;
  g.fillStyle = "#090c12";
  g.fillRect(0, 0, wide, high);
  if (!world) return;

  const seen = [];
  onView = seen;
  for (const d of dots.values()) {
    d.sx = sx(d.x);
    d.sy = sy(d.y);
    if (d.sx > -90 && d.sy > -90 && d.sx < wide + 90 && d.sy < high + 90) seen.push(d);
  }
  const room = Math.min(Math.max(Math.sqrt(500 / Math.max(seen.length, 1)), 0.62), 1); // a crowd is drawn smaller
  const size = Math.min(Math.max(Math.sqrt(cam.z * (world.chunk_size || 100)) * 0.95 * room, 3), 15);
  ground();
  hovered = pointer && !pointer.down ? pick(pointer, 15) : null;
  map.classList.toggle("hit", !!hovered);
  const bright = live() ? 1 : 0.4;

  g.globalCompositeOperation = "lighter";
  const glow = Math.min(Math.max(cam.z * (world.chunk_size || 100) * 0.8 * room, 14), 150), light = halo(glow);
  for (const d of seen) {
    if (d.cls !== "lantern" || d.state.lit !== true) continue;
    g.globalAlpha = d.alpha * bright * (calm.matches ? 0.9 : 0.86 + 0.14 * Math.sin(now / 310 + d.phase) * Math.sin(now / 170 + d.phase * 3));
    g.drawImage(light, d.sx - glow, d.sy - glow, glow * 2, glow * 2);
  }
  g.globalCompositeOperation = "source-over";

  if (trails) for (const d of seen) if (walks(d.cls) && d.trail.length > 3) trail(d, size, bright);
  const centre = selected || hovered;
  if (centre) ties(centre);
  for (const d of seen) if (!walks(d.cls)) icon(g, d.sx, d.sy, size, d.cls, d.state, d.alpha * bright, tint(d.owner));
  for (const d of seen) if (walks(d.cls)) walker(g, d.sx, d.sy, size * 0.82, tint(d.player ? d.player.id : d.owner), d.angle, d.alpha * bright, d.player && d.player.host);
  labels(seen, size, bright);
  for (const d of new Set([selected, hovered])) if (d) ring(d, size);
  g.globalAlpha = 1;
  tip(centre);
  scale();
}

function resize() {
  const w = map.clientWidth, h = map.clientHeight, r = Math.min(devicePixelRatio || 1, 2);
  if (w === wide && h === high && r === dpr) return;
  wide = w;
  high = h;
  dpr = r;
  map.width = Math.round(w * r);
  map.height = Math.round(h * r);
}

// ground draws the world's extent, the chunks somebody is in, and the lines between chunks.
function ground() {
  const b = world.bounds, c = world.chunk_size;
  const box = b ? [sx(b[0]), sy(b[1]), (b[2] - b[0]) * cam.z, (b[3] - b[1]) * cam.z] : [0, 0, wide, high];
  g.fillStyle = "#0e131c";
  g.fillRect(...box);
  if (!c) return;
  let step = c;
  while (step * cam.z < 11) step *= 8; // lines this close would be a wall: show regions of chunks

  const crowd = new Map();
  for (const d of dots.values()) {
    if (!d.player || d.gone) continue;
    const x = Math.floor(d.tx / step), y = Math.floor(d.ty / step), k = x + "," + y, at = crowd.get(k) || [x, y, 0];
    at[2]++;
    crowd.set(k, at);
  }
  g.fillStyle = cyan;
  for (const [x, y, n] of crowd.values()) {
    g.globalAlpha = Math.min(0.025 + 0.02 * n, 0.16);
    g.fillRect(sx(x * step), sy(y * step), step * cam.z, step * cam.z);
  }
  g.globalAlpha = 1;

  g.save();
  g.beginPath();
  g.rect(...box);
  g.clip();
  const x0 = Math.floor((cam.x - wide / 2 / cam.z) / step), x1 = Math.ceil((cam.x + wide / 2 / cam.z) / step);
  const y0 = Math.floor((cam.y - high / 2 / cam.z) / step), y1 = Math.ceil((cam.y + high / 2 / cam.z) / step);
  for (const strong of [false, true]) {
    g.beginPath();
    for (let i = x0; i <= x1; i++) if ((i % 8 === 0) === strong) line(Math.round(sx(i * step)) + 0.5, 0, 0, high);
    for (let i = y0; i <= y1; i++) if ((i % 8 === 0) === strong) line(0, Math.round(sy(i * step)) + 0.5, wide, 0);
    g.lineWidth = 1;
    g.strokeStyle = strong ? "#2c3a50" : "#1a2230";
    g.stroke();
  }
  g.restore();
  if (b) {
    g.strokeStyle = "#3a4a65";
    g.lineWidth = 1;
    g.strokeRect(...box);
  }
  if (step * cam.z < 30 || step !== c) return;
  g.fillStyle = "#66758c";
  g.font = "10.5px system-ui, sans-serif";
  g.textAlign = "center";
  g.textBaseline = "middle";
  const top = Math.max(box[1] - 10, 10), left = Math.max(box[0] - 13, 13);
  for (let i = x0; i < x1; i++) if (!b || (i * c >= b[0] && i * c < b[2])) g.fillText(i, sx((i + 0.5) * c), top);
  for (let i = y0; i < y1; i++) if (!b || (i * c >= b[1] && i * c < b[3])) if (sy((i + 0.5) * c) > 24) g.fillText(i, left, sy((i + 0.5) * c));
}

function line(x, y, dx, dy) {
  g.moveTo(x, y);
  g.lineTo(x + dx, y + dy);
}

function trail(d, size, bright) {
  g.strokeStyle = tint(d.player ? d.player.id : d.owner);
  g.lineCap = g.lineJoin = "round";
  const n = d.trail.length;
  for (const [from, alpha, width] of [[0, 0.13, 0.26], [Math.floor(n / 6) * 3, 0.22, 0.4]]) {
    g.globalAlpha = alpha * d.alpha * bright;
    g.lineWidth = Math.max(size * width, 1);
    g.beginPath();
    for (let i = from; i < n; i += 3) g.lineTo(sx(d.trail[i + 1]), sy(d.trail[i + 2]));
    g.lineTo(d.sx, d.sy);
    g.stroke();
  }
}

// ties joins a player with what is theirs.
function ties(centre) {
  const who = centre.player ? centre.player.id : centre.owner;
  if (!who) return;
  const home = centre.player ? centre : [...dots.values()].find((d) => d.player && d.player.id === who);
  if (!home) return;
  g.globalAlpha = 0.75;
  g.strokeStyle = tint(who);
  g.lineWidth = 1.2;
  g.setLineDash([3, 4]);
  g.beginPath();
  for (const d of dots.values()) if (d.owner === who && d !== home) line(sx(home.x), sy(home.y), (d.x - home.x) * cam.z, (d.y - home.y) * cam.z);
  g.stroke();
  g.setLineDash([]);
}

function walker(c, x, y, r, colour, angle, alpha, host) {
  c.globalAlpha = alpha;
  c.lineWidth = 1.5;
  c.strokeStyle = "#090c12";
  c.fillStyle = colour;
  if (angle !== null) {
    c.beginPath();
    c.moveTo(x + Math.cos(angle) * r * 1.85, y + Math.sin(angle) * r * 1.85);
    c.arc(x, y, r * 1.02, angle + 0.8, angle - 0.8);
    c.closePath();
  } else {
    c.beginPath();
    c.arc(x, y, r, 0, 7);
  }
  c.stroke();
  c.fill();
  if (!host) return;
  c.strokeStyle = c.fillStyle = gold;
  c.lineWidth = 2;
  c.beginPath();
  c.arc(x, y, r + 4.5, 0, 7);
  c.stroke();
  const w = Math.max(r * 0.95, 5.5), top = y - r - 8;
  c.beginPath();
  for (const [dx, dy] of [[-1, 0], [-1.15, -1.15], [-0.5, -0.6], [0, -1.45], [0.5, -0.6], [1.15, -1.15], [1, 0]]) c.lineTo(x + dx * w, top + dy * w * 0.8);
  c.closePath();
  c.fill();
}

function icon(c, x, y, s, cls, state, alpha, colour) {
  c.globalAlpha = alpha;
  if (cls !== "lantern") {
    const r = s * 0.62;
    c.lineWidth = 1.5;
    c.fillStyle = "#1b2432";
    c.strokeStyle = colour;
    c.fillRect(x - r, y - r, 2 * r, 2 * r);
    c.strokeRect(x - r, y - r, 2 * r, 2 * r);
    return;
  }
  const lit = state.lit === true, sprite = lantern(lit, s), half = sprite.width / sprite.ratio / 2;
  c.drawImage(sprite, x - half, y - half, half * 2, half * 2);
}

// lantern is a body with a handle, painted once for a size.
const sprites = new Map();
function lantern(lit, s) {
  const size = Math.round(s * 2) / 2, ratio = Math.max(dpr, 2), key = lit + "/" + size + "/" + ratio;
  let c = sprites.get(key);
  if (c) return c;
  if (sprites.size > 60) sprites.clear();
  c = document.createElement("canvas");
  c.ratio = ratio;
  c.width = c.height = Math.ceil(size * 3 * ratio);
  const p = c.getContext("2d");
  p.scale(ratio, ratio);
  p.translate(size * 1.5, size * 1.5);
  p.lineWidth = Math.max(size * 0.16, 1);
  p.strokeStyle = lit ? amber : "#56657c";
  p.fillStyle = lit ? "#ffe9bd" : "#1a222f";
  p.beginPath();
  p.arc(0, -size * 0.62, size * 0.36, Math.PI, 0);
  p.stroke();
  p.beginPath();
  p.roundRect(-size * 0.52, -size * 0.58, size * 1.04, size * 1.4, size * 0.3);
  p.fill();
  p.stroke();
  sprites.set(key, c);
  return c;
}

// halo is the light around a lantern, painted at its size: a picture that must be scaled each time costs more.
const halos = new Map();
function halo(radius) {
  const r = Math.round(radius * dpr);
  let c = halos.get(r);
  if (c) return c;
  if (halos.size > 60) halos.clear();
  c = document.createElement("canvas");
  c.width = c.height = 2 * r;
  const p = c.getContext("2d"), f = p.createRadialGradient(r, r, 0, r, r, r);
  for (const [at, a] of [[0, 0.7], [0.1, 0.46], [0.28, 0.21], [0.58, 0.06], [1, 0]]) f.addColorStop(at, "rgba(255,170,70," + a + ")");
  p.fillStyle = f;
  p.fillRect(0, 0, 2 * r, 2 * r);
  halos.set(r, c);
  return c;
}

function labels(seen, size, bright) {
  g.font = "11.5px system-ui, sans-serif";
  g.textAlign = "center";
  g.textBaseline = "top";
  g.lineWidth = 3;
  g.lineJoin = "round";
  g.strokeStyle = "#090c12";
  for (const d of seen) {
    if (!d.player || !(names || d.player.host || d === selected)) continue;
    g.globalAlpha = d.alpha * bright;
    g.fillStyle = d.player.host ? gold : "#dfe6f0";
    const y = d.sy + size + (d.player.host ? 7 : 3);
    g.strokeText(d.player.name, d.sx, y);
    g.fillText(d.player.name, d.sx, y);
  }
}

function ring(d, size) {
  g.globalAlpha = 1;
  g.strokeStyle = "#fff";
  g.lineWidth = 1.5;
  g.beginPath();
  g.arc(d.sx, d.sy, size + 4, 0, 7);
  g.stroke();
}

// pick finds what is at a point of the canvas, or near.
function pick(at, reach) {
  let best = null, near = reach * reach;
  for (const d of onView) {
    const q = (d.sx - at.x) ** 2 + (d.sy - at.y) ** 2 - (d.player ? 12 : 0); // of two at one place, the player
    if (q < near && !d.gone) [best, near] = [d, q];
  }
  return best;
}

function scale() {
  const want = 110 / cam.z, p = Math.pow(10, Math.floor(Math.log10(want))), n = [5, 2, 1].find((k) => k * p <= want) * p;
  $("bar").style.width = n * cam.z + "px";
  text($("units"), number(n) + " units" + (world.chunk_size ? " · chunk " + number(world.chunk_size) : ""));
}

// ---- the tooltip

let told = "";
function tip(d) {
  const box = $("tip");
  if (selected && dots.get(selected.key) !== selected) selected = null;
  if (!d || (d === selected && !fits(d))) {
    box.hidden = true;
    return;
  }
  const rows = [["NetID", d.id, "id"]], owner = people.get(d.owner);
  if (d.key[0] === "p") rows[0][0] = "Player";
  else rows.push(["Class", d.cls]);
  if (d.player && d.key[0] === "t") rows.push(["Player", d.player.id, "id"]);
  else if (d.key[0] === "t") rows.push(["Owner", owner ? owner.name : d.owner ? brief(d.owner) + " (away)" : "nobody: the host drives it"]);
  if (d.player && d.player.host) rows.push(["Role", "host"]);
  for (const [k, v] of Object.entries(d.state)) rows.push([k, v === true ? "yes" : v === false ? "no" : String(v)]);
  if (d.player) {
    let n = 0;
    for (const o of dots.values()) if (o.owner === d.player.id && o !== d && !o.gone) n++;
    rows.push(["Owns", n + (n === 1 ? " thing" : " things")]);
  }
  rows.push(["At", d.tx.toFixed(1) + ", " + d.ty.toFixed(1)]);
  if (world.chunk_size) rows.push(["Chunk", Math.floor(d.tx / world.chunk_size) + ", " + Math.floor(d.ty / world.chunk_size)]);
  const now = d.key + JSON.stringify(rows);
  if (now !== told) {
    told = now;
    const title = document.createElement("strong"), mark = document.createElement("canvas"), list = document.createElement("dl");
    sample(mark, d.cls, d.state, tint(d.player ? d.player.id : d.owner), d.player && d.player.host);
    title.append(mark, d.player ? d.player.name : d.cls);
    for (const [k, v, cls] of rows) {
      const dd = make("dd", v);
      if (cls) dd.className = cls;
      list.append(make("dt", k), dd);
    }
    box.replaceChildren(title, list);
  }
  box.hidden = false;
  const w = box.offsetWidth, h = box.offsetHeight;
  const x = d.sx + 20 + w > wide ? d.sx - 20 - w : d.sx + 20;
  box.style.transform = "translate(" + Math.max(x, 6) + "px," + Math.max(Math.min(d.sy - 24, high - h - 8), 8) + "px)";
}

const fits = (d) => d.sx > -20 && d.sy > -20 && d.sx < wide + 20 && d.sy < high + 20;

// ---- the panel

const history = { p99: [], p50: [], updates: [] }, keep = 120;
const shown = new Set(["clients", "entities", "updates_per_s", "bytes_per_s", "packets_per_s", "p50_ms", "p99_ms", "freshness"]);

function panel() {
  if (!world) return;
  const c = world.counters, tiles = [["Clients", number(c.clients)], ["Entities", number(c.entities)]];
  tiles.push(["Sent to clients", ...rate(c.bytes_per_s, size)], ["Packets", ...rate(c.packets_per_s, (v) => [number(v), ""])]);
  if (c.updates_per_s > 0 && c.bytes_per_s !== null) tiles.push(["Bytes per update", (c.bytes_per_s / c.updates_per_s).toFixed(1), "B"]);
  if (c.freshness !== undefined) tiles.push(["Freshness", share(c.freshness), "%"]);
  fill($("tiles"), tiles, ([k, v, u]) => [make("dt", k), make("dd", v, u)]);
  fill($("more"), Object.entries(c).filter(([k]) => !shown.has(k)), ([k, v]) => [make("dt", k.split("_").join(" ")), make("dd", v === null ? "–" : number(v))]);
  $("latency").parentElement.hidden = c.p99_ms === undefined;
  $("updates").parentElement.hidden = c.updates_per_s === undefined;
  text($("lat"), c.p99_ms === undefined ? "–" : ms(c.p99_ms) + " ms · p50 " + ms(c.p50_ms));
  text($("upd"), c.updates_per_s === undefined ? "–" : number(c.updates_per_s));
  text($("world"), world.world || "–");
  const host = world.players.find((p) => p.host);
  text($("host"), host ? host.name + (host.named ? " · " + brief(host.id) : "") : world.host ? brief(world.host) : "none");
  text($("uptime"), span(world.uptime_s));
  legend();
}

// remember runs twice a second, whatever the pace of frames, so that a minute is a minute.
function remember() {
  if (world && live()) {
    const c = world.counters;
    for (const [list, v] of [[history.p99, c.p99_ms], [history.p50, c.p50_ms], [history.updates, c.updates_per_s]]) {
      list.push(typeof v === "number" ? v : null);
      if (list.length > keep) list.shift();
    }
  }
  spark($("latency"), [[history.p50, "#6f7f96", false], [history.p99, amber, true]], " ms");
  spark($("updates"), [[history.updates, cyan, true]], "");
}

function spark(canvas, lines, unit) {
  const w = canvas.clientWidth, h = canvas.clientHeight, r = Math.min(devicePixelRatio || 1, 2);
  if (!w) return;
  canvas.width = w * r;
  canvas.height = h * r;
  const c = canvas.getContext("2d");
  c.scale(r, r);
  const all = lines.flatMap(([v]) => v.filter((n) => n !== null)), top = nice((Math.max(0, ...all) || 1) * 1.3);
  c.strokeStyle = "#222c3b";
  c.beginPath();
  for (const y of [0.5, h / 2, h - 0.5]) {
    c.moveTo(0, y);
    c.lineTo(w, y);
  }
  c.stroke();
  c.font = "10px system-ui, sans-serif";
  c.fillStyle = soft;
  c.textBaseline = "top";
  if (all.length) c.fillText(number(top) + unit, 0, 3);
  for (const [values, colour, area] of lines) {
    const at = (i) => [w - 2 - (values.length - 1 - i) * ((w - 2) / (keep - 1)), h - 1 - (values[i] / top) * (h - 4)];
    c.strokeStyle = c.fillStyle = colour;
    c.lineWidth = area ? 1.75 : 1.25;
    c.lineJoin = "round";
    let path = null, start = 0;
    const end = (i) => {
      c.stroke(path);
      if (area && i > start) {
        path.lineTo(at(i)[0], h);
        path.lineTo(at(start)[0], h);
        c.globalAlpha = 0.13;
        c.fill(path);
        c.globalAlpha = 1;
      }
      path = null;
    };
    for (let i = 0; i < values.length; i++) {
      if (values[i] === null) {
        if (path) end(i - 1);
        continue;
      }
      if (!path) [path, start] = [new Path2D(), i];
      path.lineTo(...at(i));
    }
    if (path) {
      end(values.length - 1);
      c.beginPath();
      c.arc(...at(values.length - 1), area ? 2.2 : 0, 0, 7);
      c.fill();
    }
  }
}

let drawn = "";
function legend() {
  const count = new Map(), add = (k) => count.set(k, (count.get(k) || 0) + 1);
  let lit = 0, dark = 0;
  for (const d of dots.values()) {
    if (d.gone) continue;
    if (d.cls === "lantern") d.state.lit === true ? lit++ : dark++;
    else if (!d.player) add(d.cls);
  }
  const rows = [["Player", "player", {}, world.players.length, false]];
  if (world.players.some((p) => p.host)) rows.push(["Host", "player", {}, "", true]);
  if (lit + dark) rows.push(["Lantern, lit", "lantern", { lit: true }, lit], ["Lantern, out", "lantern", {}, dark]);
  for (const [cls, n] of [...count].sort().slice(0, 8)) rows.push([cls, cls, {}, n, false]);
  if (world.chunk_size) rows.push(["Chunk with players", "#chunk", {}, ""]);
  const list = $("legend"), now = JSON.stringify(rows.map((r) => r[0]));
  if (now !== drawn) {
    drawn = now;
    list.replaceChildren(...rows.map(([name, cls, state, , host]) => {
      const li = document.createElement("li"), mark = document.createElement("canvas");
      sample(mark, cls, state, host ? "#b7a5ff" : walks(cls) ? cyan : soft, host);
      li.append(mark, make("span", name), document.createElement("b"));
      return li;
    }));
  }
  rows.forEach((r, i) => text(list.children[i].lastChild, r[3] === "" ? "" : number(r[3])));
  if (world.omitted) text(list.lastChild.lastChild, number(world.omitted) + " not drawn");
}

// sample paints one thing for the legend or a title.
function sample(canvas, cls, state, colour, host) {
  canvas.width = canvas.height = 48;
  canvas.style.width = canvas.style.height = "24px";
  const c = canvas.getContext("2d");
  c.scale(2, 2);
  if (cls === "#chunk") {
    c.fillStyle = "#5ccfe626";
    c.strokeStyle = "#2c3a50";
    c.fillRect(4, 4, 16, 16);
    c.strokeRect(4.5, 4.5, 15, 15);
  } else if (walks(cls)) walker(c, 12, host ? 16 : 12, host ? 2 : 6, colour, host ? null : -0.6, 1, host);
  else {
    if (cls === "lantern" && state.lit === true) c.drawImage(halo(16), -4, -4, 32, 32);
    icon(c, 12, 12, 8, cls, state, 1, colour);
  }
}

// ---- small things

function text(node, s) {
  if (node.textContent !== s) node.textContent = s;
}

function make(tag, s, unit) {
  const node = document.createElement(tag);
  node.textContent = s;
  if (unit) node.append(make("small", unit));
  return node;
}

// fill shows rows in a list; what did not change stays, so that a reader's selection does.
function fill(list, rows, parts) {
  const now = JSON.stringify(rows);
  if (list.told === now) return;
  list.told = now;
  list.replaceChildren(...rows.map((r) => {
    const div = document.createElement("div");
    div.append(...parts(r));
    return div;
  }));
}

function number(v) {
  const a = Math.abs(v);
  if (a >= 1e6) return (v / 1e6).toFixed(a < 1e7 ? 2 : 1) + " M";
  if (a >= 1e4) return (v / 1e3).toFixed(a < 1e5 ? 1 : 0) + " k";
  return a < 100 && a !== Math.floor(a) ? String(+v.toPrecision(3)) : Math.round(v).toLocaleString("en");
}

function size(v) {
  for (const unit of ["B", "kB", "MB"]) {
    if (v < 1000) return [v < 10 && unit !== "B" ? v.toFixed(2) : v < 100 && unit !== "B" ? v.toFixed(1) : String(Math.round(v)), unit];
    v /= 1000;
  }
  return [v.toFixed(2), "GB"];
}

// rate is a number and its unit; null is before the first.
function rate(v, show) {
  if (v === null) return ["–"];
  const [n, unit] = show(v);
  return [n, unit + "/s"];
}

const ms = (v) => (v === null ? "–" : v < 10 ? v.toFixed(2) : v.toFixed(1));
const share = (v) => (v === null ? "–" : (Math.floor(v * 10000 + 1e-6) / 100).toFixed(2)); // never rounded up to 100

function nice(v) {
  const p = Math.pow(10, Math.floor(Math.log10(v)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((k) => k * p >= v) * p;
}

function span(s) {
  const two = (n) => String(n).padStart(2, "0"), d = Math.floor(s / 86400);
  return (d ? d + " d " : "") + two(Math.floor(s / 3600) % 24) + ":" + two(Math.floor(s / 60) % 60) + ":" + two(Math.floor(s) % 60);
}

// ---- the stream

let stream = null, again = 0, tries = 0, condition = "connecting";
const live = () => condition === "live";

function say(state, label, notice) {
  condition = state;
  document.body.dataset.state = $("state").dataset.state = state;
  text($("state"), label);
  text($("notice"), notice || "");
  $("notice").hidden = !notice;
}

function connect() {
  clearTimeout(again);
  if (stream) stream.close();
  stream = new EventSource("events");
  stream.onmessage = (e) => {
    tries = 0;
    absorb(decode(JSON.parse(e.data)));
    if (!live()) say("live", "live");
    panel();
  };
  stream.addEventListener("fault", (e) => {
    tries = 0;
    say("lost", "no frames", JSON.parse(e.data));
  });
  stream.onerror = () => {
    const ended = stream.readyState === EventSource.CLOSED; // refused, the browser will not try again by itself
    say(world ? "lost" : "connecting", "reconnecting", world ? "Connection lost. What you see is old; trying again." : "Waiting for the world.");
    if (ended) again = setTimeout(connect, Math.min(1000 * 2 ** tries++, 10000));
  };
}

setInterval(() => {
  const late = performance.now() - arrived;
  if (live() && late > Math.max(3000, pace * 5)) say("lost", "no frames", "No frame for " + Math.round(late / 1000) + " s. What you see is old.");
}, 1000);

// A hidden page needs no frames.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return connect();
  clearTimeout(again);
  if (stream) stream.close();
});

// ---- switches

const boxes = new Map(); // by name
let asking = true; // until it turns out that there are none here

async function switches() {
  if (!asking || document.hidden) return;
  try {
    const answer = await fetch("switches");
    if (answer.status === 404) asking = false;
    if (answer.ok) for (const s of await answer.json()) check(s.name, s.on);
  } catch { /* the stream tells of a lost connection */ }
}

function check(name, on) {
  let box = boxes.get(name);
  if (!box) {
    const label = make("label", "");
    box = document.createElement("input");
    box.type = "checkbox";
    box.addEventListener("change", () => set(name, box));
    label.append(box, make("span", name));
    $("boxes").append(label);
    $("switches").hidden = false;
    boxes.set(name, box);
  }
  if (!box.busy) box.checked = on;
}

async function set(name, box) {
  box.busy = true;
  let refusal = "";
  try {
    const answer = await fetch("switch", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name, on: box.checked }) });
    if (!answer.ok) refusal = await answer.text();
  } catch {
    refusal = "No connection: " + name + " was not set.";
  }
  box.busy = false;
  text($("refusal"), refusal);
  switches();
}

// ---- the reader's hands

const fingers = new Map();
const place = (e) => ({ x: e.offsetX, y: e.offsetY });

map.addEventListener("wheel", (e) => {
  e.preventDefault();
  zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0018)), e.offsetX, e.offsetY);
}, { passive: false });
map.addEventListener("pointerdown", (e) => {
  map.setPointerCapture(e.pointerId);
  fingers.set(e.pointerId, place(e));
  pointer = { ...place(e), far: 0 };
});
map.addEventListener("pointermove", (e) => {
  const was = fingers.get(e.pointerId), is = place(e);
  if (!was) {
    pointer = is;
    return;
  }
  const other = [...fingers].find(([id]) => id !== e.pointerId);
  if (other) {
    const o = other[1], by = Math.hypot(is.x - o.x, is.y - o.y) / Math.max(Math.hypot(was.x - o.x, was.y - o.y), 1);
    zoom(by, (is.x + o.x) / 2, (is.y + o.y) / 2);
  }
  pointer.far += Math.hypot(is.x - was.x, is.y - was.y);
  if (pointer.far > 4 || other) {
    pan((is.x - was.x) / fingers.size, (is.y - was.y) / fingers.size, true);
    pointer.down = true;
  }
  Object.assign(pointer, is);
  fingers.set(e.pointerId, is);
});
const release = (e) => {
  if (!fingers.delete(e.pointerId)) return;
  if (pointer && !pointer.down && e.type === "pointerup") {
    selected = pick(place(e), e.pointerType === "mouse" ? 15 : 26);
    if (selected) fitted = false;
  }
  pointer = e.pointerType === "mouse" ? place(e) : null;
};
map.addEventListener("pointerup", release);
map.addEventListener("pointercancel", release);
map.addEventListener("pointerleave", () => { if (!fingers.size) pointer = null; });

const acts = {
  in: () => zoom(1.4),
  out: () => zoom(1 / 1.4),
  fit: () => { fitted = true; selected = null; },
  names: () => $("names").setAttribute("aria-pressed", String(names = !names)),
  trails: () => $("trails").setAttribute("aria-pressed", String(trails = !trails)),
};
for (const [id, act] of Object.entries(acts)) $(id).addEventListener("click", act);

const keys = {
  "+": acts.in, "=": acts.in, "-": acts.out, _: acts.out, 0: acts.fit, f: acts.fit, n: acts.names, t: acts.trails,
  Escape: () => { selected = null; },
  ArrowLeft: () => pan(80, 0), ArrowRight: () => pan(-80, 0), ArrowUp: () => pan(0, 80), ArrowDown: () => pan(0, -80),
};
addEventListener("keydown", (e) => {
  const key = e.key.length === 1 ? e.key.toLowerCase() : e.key, act = keys[key];
  if (!act || e.ctrlKey || e.metaKey || e.altKey || (key.startsWith("Arrow") && document.activeElement !== map)) return;
  e.preventDefault();
  act();
});

// Those who do not see the map hear of it every ten seconds.
setInterval(() => {
  if (!world) return;
  const lanterns = world.things.filter((t) => t.cls === "lantern"), lit = lanterns.filter((t) => t.state.lit === true).length;
  text($("summary"), world.players.length + " players, " + world.things.length + " things, " + lit + " of " + lanterns.length + " lanterns lit.");
}, 10000);

setInterval(remember, 500);
setInterval(switches, 2000);
switches();
connect();
requestAnimationFrame(draw);
