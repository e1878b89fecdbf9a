package inspect

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPageIsSelfContained holds the page to its own origin, to a size, and to ids that exist.
func TestPageIsSelfContained(t *testing.T) {
	const limit = 44_000 // 40,000 before the switches
	total := 0
	all := map[string]string{}
	err := fs.WalkDir(page, "page", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := page.ReadFile(path)
		total += len(b)
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(files) {
		t.Errorf("%d files are embedded, %d are served", len(all), len(files))
	}
	if total > limit {
		t.Errorf("the page has %d bytes, the limit is %d", total, limit)
	}
	address := regexp.MustCompile(`(?i)(https?:|wss?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s"')]*`)
	for path, text := range all {
		for _, url := range address.FindAllString(strings.ReplaceAll(text, "xmlns='http://www.w3.org/2000/svg'", ""), -1) {
			t.Errorf("%s names %s", path, url)
		}
		// The policy of the handler would refuse these, in silence; innerHTML would take markup from a player's name.
		for _, word := range []string{"@import", "eval(", "innerHTML", "insertAdjacentHTML", "document.write", "new Function", "style=", "onclick="} {
			if strings.Contains(text, word) {
				t.Errorf("%s has %s", path, word)
			}
		}
	}
	html := all["page/index.html"]
	for _, m := range regexp.MustCompile(`\$\("([a-z]+)"\)`).FindAllStringSubmatch(all["page/page.js"], -1) {
		if !strings.Contains(html, `id="`+m[1]+`"`) {
			t.Errorf("the script wants #%s, which the page has not", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		_, served := files["/"+m[1]]
		if !served && m[1] != "frame" && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %s, which is not served", m[1])
		}
	}
}

// TestScript checks the script's syntax: by node where there is one, and always for what a slip of the hand breaks.
func TestScript(t *testing.T) {
	script := string(files["/page.js"].body)
	if err := balanced(script); err != nil {
		t.Error(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Log("NOT CHECKED BY A PARSER: there is no node here; only strings, comments and brackets were")
		return
	}
	if out, err := exec.Command(node, "--check", "page/page.js").CombinedOutput(); err != nil {
		t.Errorf("node --check: %v\n%s", err, out)
	}
}

// part is the script from one text up to the next occurrence of another.
func part(t *testing.T, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(string(files["/page.js"].body), from)
	body, _, ended := strings.Cut(rest, to)
	if !ok || !ended {
		t.Fatalf("the script has no %q, or no %q behind it: change this test with it", from, to)
	}
	return from + body
}

// play runs a program with node. Where there is none, the test that asks passes and says so.
func play(t *testing.T, program string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("NOT RUN: there is no node here")
	}
	cmd := exec.CommandContext(t.Context(), node, "-")
	cmd.Stdin = strings.NewReader(program)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestScriptReadsTheGoldenFrame runs the page's decoder on the frame that the Go side is held to.
func TestScriptReadsTheGoldenFrame(t *testing.T) {
	frame, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	program := part(t, "function decode(", "// ---- the world as it is drawn") + "const f = decode(" + string(frame) + ");\n" +
		"for (const p of f.players) console.log(p.id, p.name.length, p.named, p.x, p.y, p.host);\n" +
		"for (const t of f.things) console.log(t.id, t.cls, t.x, t.y, t.owner, JSON.stringify(t.state));\n" +
		"console.log(f.bounds, f.counters.p99_ms);\n"
	const want = `aa01 3 true 12.3 -56.8 true
bb02 21 true 0 1000000 false
cc03 4 false null null false
00e1 walker 12.3 -56.8 aa01 {}
00e2 lantern 100 100 bb02 {"lit":true,"lits":3}
00e3 lantern 1 2 gone {"lit":false}
00e4 crate 0 0 null {"bad":null,"fuel":0.123,"glow":"glow 7","none":null,"pos":"[1,2]","tag":"red","worse":"json: unsupported type: func()"}
[ -500, -400, 500, 400 ] 45.68
`
	if out := play(t, program); out != want {
		t.Errorf("got:\n%s\nwant:\n%s", out, want)
	}
}

// TestExtentIsNeverEmpty has things at one point and on edges of chunks: the page must not show a map of no size.
func TestExtentIsNeverEmpty(t *testing.T) {
	out := play(t, part(t, "function extent(", "function fit(")+`
let world = { chunk_size: 100 }, dots = new Map();
const at = (...places) => {
  dots = new Map(places.map(([tx, ty], i) => [i, { tx, ty }]));
  console.log(extent().join(" "));
};
at();
at([0, 0]);
at([0, 0], [0, 0]);
at([100, -100]);
at([0, 5], [250, 5]);
world = {};
at([7, 7]);
world = { bounds: [1, 2, 3, 4] };
at([7, 7]);
`)
	const want = "-200 -200 200 200\n0 0 100 100\n0 0 100 100\n100 -100 200 0\n0 0 300 100\n0 0 100 100\n1 2 3 4\n"
	if out != want {
		t.Errorf("got:\n%s\nwant:\n%s", out, want)
	}
}

// TestNoRateIsNoZero has rates as the first frame of a world has them.
func TestNoRateIsNoZero(t *testing.T) {
	out := play(t, part(t, "function number(", "function nice(")+`
for (const v of [null, 0, 1234]) console.log(rate(v, size).join(" ") + ", " + rate(v, (v) => [number(v), ""]).join(" "));
`)
	if want := "–, –\n0 B/s, 0 /s\n1.23 kB/s, 1,234 /s\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// TestChartsNameNoScaleWithoutSamples looks at the texts that a chart draws.
func TestChartsNameNoScaleWithoutSamples(t *testing.T) {
	out := play(t, "const keep = 120, soft = '', devicePixelRatio = 1;\nclass Path2D { lineTo() {} }\n"+
		part(t, "function number(", "function size(")+part(t, "function nice(", "function span(")+part(t, "function spark(", "let drawn")+`
for (const values of [[], [null, null], [null, 0], [0, 3]]) {
  const said = [], c = new Proxy({}, { get: (_, name) => name === "fillText" ? (s) => said.push(s) : () => {}, set: () => true });
  spark({ clientWidth: 200, clientHeight: 60, getContext: () => c }, [[values, "#fff", true]], " ms");
  console.log(said.join());
}
`)
	if want := "\n\n1.5 ms\n4 ms\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// TestScriptSwitches has a page with a switch, which somebody clicks twice: the second time it is refused.
func TestScriptSwitches(t *testing.T) {
	out := play(t, part(t, "const boxes", "// ---- the reader's hands")+`
const nodes = {}, $ = (id) => nodes[id] ||= node();
function node() {
  return { hidden: true, kids: [], append(...k) { this.kids.push(...k); }, addEventListener(_, f) { this.click = () => { this.checked = !this.checked; return f(); }; } };
}
const document = { createElement: node }, make = (tag, s) => Object.assign(node(), { textContent: s }), text = (n, s) => { n.textContent = s; };
let on = false, code = 200;
async function fetch(path, req) {
  if (!req) return { status: code, ok: code === 200, json: async () => code === 200 && [{ name: "trace.state", on }] };
  console.log(path, req.method, req.headers["Content-Type"], req.body);
  if (on) return { ok: false, text: async () => "no" };
  on = JSON.parse(req.body).on;
  return { ok: true };
}
(async () => {
  await switches();
  const box = $("boxes").kids[0].kids[0], tell = () => console.log($("switches").hidden, $("boxes").kids.length, box.checked, $("refusal").textContent);
  tell();
  for (let i = 0; i < 2; i++) {
    await box.click();
    await switches();
    tell();
  }
  code = 404;
  await switches();
  console.log(asking);
})();
`)
	const want = `false 1 false undefined
switch POST application/json {"name":"trace.state","on":true}
false 1 true 
switch POST application/json {"name":"trace.state","on":false}
false 1 true no
false
`
	if out != want {
		t.Errorf("got:\n%s\nwant:\n%s", out, want)
	}
}

// TestBalancedCanFail breaks a sound script in each way that balanced is there for.
func TestBalancedCanFail(t *testing.T) {
	const sound = "f(\"a)\", 'b]', `c${x + \"}\"}d`); /* ( */ // {\nif (a / b > c) { g[1] = 2; }\n"
	if err := balanced(sound); err != nil {
		t.Fatalf("sound: %v", err)
	}
	for _, broken := range []string{sound + "}", sound + "(", "f(]", "'open\n'", "`open", "/* open", "`${a`", "\"a"} {
		if balanced(broken) == nil {
			t.Errorf("%q passes", broken)
		}
	}
}

// balanced checks that brackets match and that strings, templates and comments end. It knows no regular expressions: a
// script with one that holds a bracket or quote must be written otherwise.
func balanced(s string) error {
	var open []byte // what closes each bracket; '`' for a template around ${
	line := 1
	for i := 0; i < len(s); i++ {
		c := s[i]
		rest := s[i:]
		template := false
		switch {
		case c == '\n':
			line++
		case strings.HasPrefix(rest, "//"):
			i += max(strings.IndexByte(rest, '\n'), 1) - 1
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return fmt.Errorf("line %d: a comment does not end", line)
			}
			line += strings.Count(rest[:end], "\n")
			i += end + 1
		case c == '"' || c == '\'':
			for i++; i < len(s) && s[i] != c; i++ {
				if s[i] == '\\' {
					i++
				} else if s[i] == '\n' {
					return fmt.Errorf("line %d: a string does not end", line)
				}
			}
			if i >= len(s) {
				return fmt.Errorf("line %d: a string does not end", line)
			}
		case c == '`':
			template = true
		case strings.IndexByte("([{", c) >= 0:
			open = append(open, ")]}"[strings.IndexByte("([{", c)])
		case strings.IndexByte(")]}", c) >= 0:
			if c == '}' && len(open) > 0 && open[len(open)-1] == '`' {
				open = open[:len(open)-1]
				template = true
				break
			}
			if len(open) == 0 || open[len(open)-1] != c {
				return fmt.Errorf("line %d: %c closes nothing", line, c)
			}
			open = open[:len(open)-1]
		}
		if !template {
			continue
		}
		for i++; ; i++ {
			if i >= len(s) {
				return fmt.Errorf("line %d: a template does not end", line)
			}
			if s[i] == '\n' {
				line++
			}
			if s[i] == '\\' {
				i++
			} else if s[i] == '`' {
				break
			} else if strings.HasPrefix(s[i:], "${") {
				i++
				open = append(open, '`')
				break
			}
		}
	}
	if len(open) > 0 {
		slices.Reverse(open)
		return fmt.Errorf("at the end, %q is missing", open)
	}
	return nil
}
