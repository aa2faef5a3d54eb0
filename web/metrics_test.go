package web

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/redis"
)

// /metrics is what Prometheus reads, all of it is in docs/operations.md, and
// what the page and the dashboard ask for is there.

// scraped is what /metrics has said.
type scraped struct {
	kinds   map[string]string  // of families
	samples map[string]float64 // by name and labels as they are written
}

var (
	metricName  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	sampleLine  = regexp.MustCompile(`^([a-z][a-z0-9_]*)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$`)
	bucketLabel = regexp.MustCompile(`,?le="([^"]*)"`)
)

// parseMetrics reads the text format, strictly.
func parseMetrics(text string) (m scraped, err error) {
	m = scraped{map[string]string{}, map[string]float64{}}
	helped, family := "", ""
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		words := strings.SplitN(line, " ", 4)
		switch {
		case !ended:
			return m, fmt.Errorf("%q does not end", line)
		case strings.HasPrefix(line, "# HELP ") && len(words) == 4:
			helped = words[2]
		case strings.HasPrefix(line, "# TYPE ") && len(words) == 4:
			if family = words[2]; family != helped || m.kinds[family] != "" || !metricName.MatchString(family) {
				return m, fmt.Errorf("%s: without help, twice, or not a name", family)
			}
			m.kinds[family] = words[3]
		default:
			parts := sampleLine.FindStringSubmatch(line)
			if parts == nil {
				return m, fmt.Errorf("%q is no sample", line)
			}
			base := parts[1]
			if m.kinds[family] == kindHistogram {
				base = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(base, "_bucket"), "_sum"), "_count")
			}
			value, bad := strconv.ParseFloat(parts[3], 64)
			if _, twice := m.samples[parts[1]+parts[2]]; twice || bad != nil || base != family {
				return m, fmt.Errorf("%q: twice, no number, or not of %s", line, family)
			}
			m.samples[parts[1]+parts[2]] = value
		}
	}
	return m, nil
}

// check reports what Prometheus's conventions do not allow.
func (m scraped) check(t *testing.T) {
	t.Helper()
	for name, kind := range m.kinds {
		if total := strings.HasSuffix(name, "_total"); total != (kind == kindCounter) {
			t.Errorf("%s is a %s", name, kind)
		}
		for _, unit := range []string{"_ms", "_us", "_micros", "_millis", "_kb", "_mb", "_percent", "_bucket", "_sum", "_count"} {
			if strings.HasSuffix(strings.TrimSuffix(name, "_total"), unit) {
				t.Errorf("%s is not in a base unit, or ends as a part of a histogram does", name)
			}
		}
	}
	for sample, value := range m.samples {
		name, _, _ := strings.Cut(sample, "{")
		if value < 0 || math.IsNaN(value) {
			t.Errorf("%s is %v", sample, value)
		}
		if base, ok := strings.CutSuffix(name, "_bucket"); ok {
			m.checkBucket(t, base, sample, value)
		}
	}
}

// checkBucket compares a bucket with those that hold more.
func (m scraped) checkBucket(t *testing.T, base, sample string, value float64) {
	t.Helper()
	labels := bucketLabel.ReplaceAllString(strings.TrimPrefix(sample, base+"_bucket"), "")
	if labels == "{}" {
		labels = ""
	}
	count, ok := m.samples[base+"_count"+labels]
	_, summed := m.samples[base+"_sum"+labels]
	le := bucketLabel.FindStringSubmatch(sample)[1]
	if !ok || !summed || value > count || le == "+Inf" && value != count {
		t.Errorf("%s is %v of %v", sample, value, count)
	}
	bound, _ := strconv.ParseFloat(le, 64)
	for other, more := range m.samples {
		if !strings.HasPrefix(other, base+"_bucket") || bucketLabel.ReplaceAllString(other, "") != bucketLabel.ReplaceAllString(sample, "") {
			continue
		}
		if upper, _ := strconv.ParseFloat(bucketLabel.FindStringSubmatch(other)[1], 64); upper > bound && more < value {
			t.Errorf("%s is %v, and %s %v", sample, value, other, more)
		}
	}
}

func (r *running) scrape() scraped {
	r.t.Helper()
	a := r.get("/metrics")
	if kind := a.header.Get("Content-Type"); a.status != 200 || kind != "text/plain; version=0.0.4; charset=utf-8" {
		r.t.Fatalf("got %d %s", a.status, kind)
	}
	m, err := parseMetrics(a.body)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func TestMetricsCount(t *testing.T) {
	r := start(t, Options{}, redis.Options{Version: `1.0 "a\b"`})
	before := r.scrape()
	before.check(t)
	for i := range 40 {
		r.do("SET", "k"+strconv.Itoa(i), "v")
		r.do("GET", "k"+strconv.Itoa(i))
	}
	r.do("GET", "missing")
	r.do("HISTORY", "GETAT", "k1", "now")
	c := converse(r.redis, "127.0.0.1:1", "127.0.0.1:2")
	c.send("LPUSH", "k1", "x")
	c.close()
	r.get("/v1/get?key=k1")
	r.get("/elsewhere")
	m := r.scrape()
	m.check(t)
	for name, want := range map[string]float64{
		`firn_build_info{version="1.0 \"a\\b\""}`: 1,
		`firn_writable`:                                                 1,
		`firn_commands_total{command="set"}`:                            40,
		`firn_commands_total{command="get"}`:                            41,
		`firn_commands_total{command="history|getat"}`:                  2,
		`firn_key_hits_total`:                                           42,
		`firn_key_misses_total`:                                         1,
		`firn_keys{db="0"}`:                                             40,
		`firn_http_requests_total{route="/v1/get",code="200"}`:          1,
		`firn_http_requests_total{route="other",code="404"}`:            1,
		`firn_http_requests_total{route="/metrics",code="200"}`:         1,
		`firn_http_connections`:                                         1,
		`firn_connected_clients`:                                        0,
		`firn_command_duration_seconds_count{command="history|getat"}`:  2,
		`firn_command_duration_seconds_bucket{command="get",le="+Inf"}`: 3, // one in 16
		`firn_groups_total`:                                             m.samples["firn_group_transactions_count"],
		`firn_group_duration_seconds_count`:                             m.samples["firn_groups_total"],
		`firn_group_transactions_sum`:                                   m.samples["firn_transactions_total"],
	} {
		if got, ok := m.samples[name]; got != want || !ok {
			t.Errorf("%s: got %v (%t), want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{
		"firn_transactions_total", "firn_rows_total", "firn_wal_bytes", "firn_file_bytes", "firn_memory_bytes{part=\"head\"}",
		"firn_horizon_age_seconds", "firn_newest_timestamp_seconds", "firn_output_bytes_total", "process_cpu_seconds_total",
		"process_resident_memory_bytes", "process_open_fds", "go_goroutines", "go_memstats_sys_bytes",
	} {
		if m.samples[name] <= before.samples[name] && m.samples[name] == 0 {
			t.Errorf("%s: got 0", name)
		}
	}
	for name, was := range before.samples {
		family, _, _ := strings.Cut(name, "{")
		if is, ok := m.samples[name]; m.kinds[family] == kindCounter && (!ok || is < was) {
			t.Errorf("%s went from %v to %v (%t)", name, was, is, ok)
		}
	}
}

// What clients follow takes memory while they do.
func TestMetricsOfWhatIsFollowed(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	parts := []string{`firn_memory_bytes{part="live"}`, `firn_memory_bytes{part="tracking"}`}
	c := converse(r.redis, "127.0.0.1:1", "127.0.0.1:2")
	for _, line := range []string{"HELLO 3", "CLIENT TRACKING ON", "GET k", "LIVE id GET k"} {
		if v, err := c.ask(t.Context(), strings.Fields(line)...); err != nil || v.IsError() {
			t.Fatalf("%s: got %q, %v", line, v.Text, err)
		}
	}
	during := r.scrape()
	c.close()
	after := r.scrape()
	for _, part := range parts {
		if during.samples[part] <= 0 || after.samples[part] != 0 {
			t.Errorf("%s: got %v, and %v afterwards, want some and none", part, during.samples[part], after.samples[part])
		}
	}
}

// The page names every metric, and no other; so does the dashboard.
func TestMetricsAreDocumented(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	known := r.scrape().kinds
	if len(known) < 80 {
		t.Fatalf("got %d metrics", len(known))
	}
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range known {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/operations.md does not say what %s is", name)
		}
	}
	for _, name := range namedMetrics(string(page)) {
		if known[familyOf(known, name)] == "" {
			t.Errorf("docs/operations.md names %s, which there is not", name)
		}
	}
}

var metricIn = regexp.MustCompile(`\b(?:firn|go|process)_[a-z0-9_]*[a-z0-9]\b`)

func namedMetrics(text string) []string { return metricIn.FindAllString(text, -1) }

// familyOf is the family of a sample's name.
func familyOf(known map[string]string, name string) string {
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, part); ok && known[base] == kindHistogram {
			return base
		}
	}
	return name
}

func TestDashboardAsksForWhatThereIs(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	known := r.scrape().kinds
	text, err := os.ReadFile("../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			Type    string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	asked, ids := 0, map[int]bool{}
	for _, panel := range dashboard.Panels {
		if ids[panel.ID] || panel.Title == "" || panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("panel %d %q: no title, nothing to show, or an id twice", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			names := namedMetrics(target.Expr)
			if len(names) == 0 {
				t.Errorf("%s: %q asks for nothing", panel.Title, target.Expr)
			}
			for _, name := range names {
				asked++
				kind := known[familyOf(known, name)]
				if kind == "" {
					t.Errorf("%s: %q: there is no %s", panel.Title, target.Expr, name)
				}
				rated := strings.Contains(target.Expr, "rate("+name) || strings.Contains(target.Expr, "increase("+name)
				if counts := kind != kindGauge; counts != rated {
					t.Errorf("%s: %q: %s is a %s", panel.Title, target.Expr, name, kind)
				}
			}
		}
	}
	if asked < 40 {
		t.Errorf("the dashboard asks for %d metrics", asked)
	}
}

func TestOpenMetrics(t *testing.T) {
	r := start(t, Options{OpenMetrics: true}, redis.Options{Password: "pw"})
	if a := r.get("/metrics"); a.status != 200 {
		t.Errorf("got %d, want 200", a.status)
	}
	if a := r.get("/v1/get?key=k"); a.status != 401 {
		t.Errorf("the rest: got %d, want 401", a.status)
	}
}

// Readiness is whether a client could connect and write, health whether anybody
// answers.
func TestReadiness(t *testing.T) {
	r := start(t, Options{}, redis.Options{MaxClients: 1})
	ready := func(want int) {
		t.Helper()
		if a := r.get("/readyz"); a.status != want {
			t.Errorf("readyz: got %d %s, want %d", a.status, a.body, want)
		}
		if a := r.get("/healthz"); a.status != 200 || a.body != "ok\n" {
			t.Errorf("healthz: got %d %q", a.status, a.body)
		}
	}
	ready(200)
	c := converse(r.redis, "127.0.0.1:1", "127.0.0.1:2")
	ready(503)
	if a := r.get("/v1/get?key=k"); a.status != 503 {
		t.Errorf("one client too many: got %d %s, want 503", a.status, a.body)
	}
	c.close()
	ready(200)
	r.store.Close()
	ready(503)
}
