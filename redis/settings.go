package redis

import (
	"sync"
	"sync/atomic"
)

// config holds the settings that can change while the server runs.
type config struct {
	keptSettings
	pass       atomic.Pointer[string]
	maxClients atomic.Int64
	timeout    atomic.Int64 // seconds a client may be idle; 0: for ever
	keepAlive  atomic.Int64 // seconds
	queryLimit atomic.Int64 // bytes of one command
	hz         atomic.Int64 // how often the sweeper looks in a second, 1 to maxHz
	effort     atomic.Int64 // active-expire-effort, 1 to 10: see keyspace.SweepPace
	protected  atomic.Bool  // without a password only clients of this machine are let in

	outputLimits atomic.Pointer[outputLimits]

	setting sync.Mutex // held by CONFIG SET, which sets all or nothing
}

func (cf *config) init(o Options) {
	cf.pass.Store(&o.Password)
	cf.maxClients.Store(int64(o.MaxClients))
	cf.keepAlive.Store(300)
	cf.hz.Store(defaultHz)
	cf.effort.Store(1)
	limits := defaultOutputLimits
	cf.outputLimits.Store(&limits)
	cf.queryLimit.Store(1 << 30)
	cf.protected.Store(!o.Exposed)
}

func (cf *config) password() string { return *cf.pass.Load() }

// keptSettings are settings that are only kept and shown, so that clients and
// tools which set them find them as they left them.
type keptSettings struct {
	shown atomic.Pointer[[]float64] // latency-tracking-info-percentiles; nil: the default

	mu    sync.Mutex
	texts map[string]string // what was set, by name; as many as keptParameters has
}

// percentiles are those that INFO shows.
func (k *keptSettings) percentiles() []float64 {
	if p := k.shown.Load(); p != nil {
		return *p
	}
	return []float64{50, 99, 99.9}
}

// kept is the text of a setting that is only kept; otherwise, if it was never set.
func (k *keptSettings) kept(name, otherwise string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if text, ok := k.texts[name]; ok {
		return text
	}
	return otherwise
}

func (k *keptSettings) keep(name, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.texts == nil {
		k.texts = make(map[string]string)
	}
	k.texts[name] = text
}

// What hz may be, in Redis and here.
const (
	defaultHz = 10
	maxHz     = 500
)
