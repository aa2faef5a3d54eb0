package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	_ "net/http/pprof" // served on --pprof only
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/server"
)

// settings are what firn serve can be told.
type settings struct {
	path       string
	listen     []string
	unix       string
	fsync      fsyncValue
	memory     bytesValue
	retention  retentionValue
	walMax     bytesValue
	lockWait   time.Duration
	historyMax bytesValue
	databases  int
	password   string
	aclFile    string
	users      []string
	maxClients int
	level      slog.LevelVar
	format     choiceValue
	protected  choiceValue
	debug      choiceValue
	audit      choiceValue
	loops      int
	portable   bool
	pprof      string
	web        webSettings
	tls        tlsFlags
}

const serveHelp = `Serve the store in PATH (firn.db if there is none) to Redis clients. The file
is created if it does not exist. Each flag can also be given as an environment
variable: FIRN_REQUIREPASS for --requirepass.

An answered write survives a crash of the server. --fsync says what a power cut
may take: nothing (always), the last second (everysec), or what the system has
not written yet (no).

SIGINT and SIGTERM end the server: it finishes the writes that it accepted and
closes the file. A second signal ends it at once, which loses nothing that was
answered.`

func serveCommand() *cobra.Command { return serveFlags(&settings{}) }

// serveFlags is the command that fills in s.
func serveFlags(s *settings) *cobra.Command {
	*s = settings{
		memory:    256 << 20,
		retention: retentionValue(24 * time.Hour),
		walMax:    256 << 20,
		format:    choiceValue{"", []string{"text", "json"}},
		protected: choiceValue{"yes", []string{"yes", "no"}},
		debug:     choiceValue{"no", []string{"no", "yes", "local"}},
		audit:     choiceValue{"on", []string{"on", "off"}},
	}
	c := &cobra.Command{
		Use:     "serve [PATH]",
		Short:   "Serve a store to Redis clients",
		Long:    serveHelp,
		Example: "  firn serve orders.db --fsync everysec --memory 1gb --retention 7d",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			s.path = "firn.db"
			if len(args) > 0 {
				s.path = args[0]
			}
			if err := fromEnvironment(c.Flags()); err != nil {
				return err
			}
			if err := s.validate(); err != nil {
				return err
			}
			return s.serve(c.Context(), c.ErrOrStderr())
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringSliceVar(&s.listen, "listen", []string{"127.0.0.1:6379"}, "TCP addresses to listen on; may be given more than once")
	f.StringVar(&s.unix, "unix", "", "path of a Unix socket to listen on, too")
	f.Var(&s.fsync, "fsync", "when a write is answered: always, everysec or no")
	f.Var(&s.memory, "memory", "memory for current documents, such as 64mb or 2gb")
	f.Var(&s.retention, "retention", "how far back history is kept where HISTORY ENABLE sets nothing, such as 24h or 7d, or unlimited")
	f.Var(&s.historyMax, "history-max-bytes", "size of the file from which the oldest history makes room, such as 10gb; 0 is no bound")
	f.Var(&s.walMax, "wal-max-bytes", "bound of the write-ahead log's file, at least 1mb")
	f.DurationVar(&s.lockWait, "lock-wait", 5*time.Second, "how long writes wait for another process that has locked the file")
	f.Var(&s.audit, "audit", "whether each version says who wrote it: user, client, address and reason")
	f.IntVar(&s.databases, "databases", 16, "how many databases SELECT knows")
	f.StringVar(&s.password, "requirepass", "", "password that clients have to give (better in FIRN_REQUIREPASS)")
	f.StringVar(&s.aclFile, "aclfile", "", "file with users, as ACL SAVE writes it")
	f.StringArrayVar(&s.users, "user", nil, "a user and its rules, such as \"app on >secret ~app:* +@all\"; may be given more than once")
	f.IntVar(&s.maxClients, "maxclients", 10_000, "how many clients may be connected")
	f.Var(&s.protected, "protected-mode", "whether to refuse clients of other machines while there is no password")
	f.Var(&s.debug, "enable-debug-command", "who may use DEBUG, which test suites need: no, yes, or local, clients of this machine")
	f.Var(levelValue{&s.level}, "log-level", "debug, info, warn or error")
	f.Var(&s.format, "log-format", "text or json; by default text on a terminal and json elsewhere")
	s.web.addTo(f)
	s.tls.add(f)
	f.IntVar(&s.loops, "loops", 1, "event loops")
	f.BoolVar(&s.portable, "portable", false, "a goroutine for each client, as where there is no epoll")
	f.StringVar(&s.pprof, "pprof", "", "loopback address to serve profiles on")
	for _, hidden := range []string{"loops", "portable", "pprof"} {
		f.Lookup(hidden).Hidden = true
	}
	return c
}

// validate refuses nonsense, and what would be unsafe.
func (s *settings) validate() error {
	if s.databases < 1 || s.databases > 1<<20 {
		return usageError{fmt.Errorf("--databases %d: choose 1 to %d", s.databases, 1<<20)}
	}
	if s.walMax < 1<<20 {
		return usageError{fmt.Errorf("--wal-max-bytes %s: choose at least 1mb", s.walMax.String())}
	}
	if s.lockWait <= 0 {
		return usageError{fmt.Errorf("--lock-wait %s: choose more than 0", s.lockWait)}
	}
	if s.maxClients < 1 || s.maxClients > 1<<20 {
		return usageError{fmt.Errorf("--maxclients %d: choose 1 to %d", s.maxClients, 1<<20)}
	}
	if s.aclFile != "" && len(s.users) > 0 {
		return usageError{errors.New("--user and --aclfile: put the users into the file")}
	}
	if err := s.checkAddresses(); err != nil {
		return err
	}
	if err := s.tls.check(s.speaksTLS()); err != nil {
		return err
	}
	if s.pprof != "" && !isLoopback(s.pprof) {
		return usageError{fmt.Errorf("--pprof %s: only loopback addresses", s.pprof)}
	}
	return s.web.validate()
}

// speaksTLS says whether any address does.
func (s *settings) speaksTLS() bool { return len(s.tls.listen)+len(s.web.secure) > 0 }

// warnOpen tells that clients of other machines will be refused, where they
// were meant to come.
func (s *settings) warnOpen(logger *slog.Logger) {
	for _, address := range slices.Concat(s.listen, s.tls.listen, s.web.listen, s.web.secure) {
		if s.protected.text != "no" && !isLoopback(address) {
			logger.Warn("only clients of this machine are let in: set FIRN_REQUIREPASS, or --protected-mode no if others need no password", "listen", address)
		}
	}
}

// loadUsers gives the server the users of the flags or of the file.
func (s *settings) loadUsers(shared *redis.Server) error {
	if err := shared.LoadACL(); err != nil {
		return fmt.Errorf("users: %w", err)
	}
	for _, user := range s.users {
		if err := shared.SetUser(user); err != nil {
			return usageError{fmt.Errorf("--user: %w", err)}
		}
	}
	return nil
}

// logger writes to w, as text on a terminal and as JSON elsewhere.
func (s *settings) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: &s.level}
	if s.format.text == "text" || s.format.text == "" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// maxUnitsPerClient is how many transactions of one client can wait.
const maxUnitsPerClient = 1024

// serve opens the sockets and then the store, so that an address which is
// taken leaves no file behind, and serves until ctx ends.
func (s *settings) serve(ctx context.Context, stderr io.Writer) (err error) {
	logger := s.logger(stderr)
	boundMemory(int64(s.memory))
	began := time.Now()
	where := server.Options{Listen: s.listen, Unix: s.unix, TLSListen: s.tls.listen, Loops: s.loops, Portable: s.portable, Logger: logger}
	if where.TLS, err = s.tls.open(s.speaksTLS(), logger); err != nil {
		return err
	}
	sockets, err := server.Bind(where)
	if err != nil {
		return s.cannotListen(err)
	}
	defer sockets.Close()
	forWeb, err := s.web.bind()
	if err != nil {
		return s.cannotListen(err)
	}
	defer forWeb.Close()
	store, err := firn.Open(s.path, firn.Options{
		Tables:      keyspace.Tables(),
		Durability:  firn.Durability(s.fsync),
		Memory:      storeMemory(int64(s.memory)),
		Retention:   time.Duration(s.retention),
		WALMaxBytes: int64(s.walMax),
		LockWait:    s.lockWait,
		MaxQueue:    s.maxClients * maxUnitsPerClient,
		Logger:      logger,

		HistoryMaxBytes: int64(s.historyMax),
	})
	if err != nil {
		return fmt.Errorf("cannot serve %s: %w", s.path, err)
	}
	defer func() {
		if closeErr := store.Close(); closeErr != nil {
			err = errors.Join(err, fmt.Errorf("cannot close %s: %w", s.path, closeErr))
		}
		logger.Info("ended", "path", s.path)
	}()
	ctx, end := context.WithCancel(ctx)
	defer end()
	options := s.redisOptions()
	options.Logger, options.Shutdown, options.TLS = logger, end, s.tls.store
	shared := redis.New(store, options)
	if err := s.loadUsers(shared); err != nil {
		return err
	}
	srv := sockets.Server(shared, where)
	if shared.Open() {
		s.warnOpen(logger)
	}
	defer context.AfterFunc(ctx, shared.EndBackups)()
	defer context.AfterFunc(ctx, store.EndMaintenance)() // a client that waits for it would be waited for
	logger.Info("ready", "path", s.path, "listen", addresses(srv.Addrs()), "fsync", s.fsync.String(), "memory", s.memory.String(),
		"retention", s.retention.String(), "version", version, "pid", os.Getpid(), "open_ms", time.Since(began).Milliseconds())
	return s.run(ctx, srv, shared, forWeb, logger)
}

// run runs everything that serves, until ctx ends or something fails.
func (s *settings) run(ctx context.Context, srv *server.Server, shared *redis.Server, forWeb webSockets, logger *slog.Logger) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return srv.Run(ctx) })
	group.Go(func() error { return shared.Sweeper().Run(ctx) })
	if over := s.web.server(shared, forWeb, s.tls.store, logger); over != nil {
		group.Go(func() error { return over.Run(ctx) })
	}
	if s.tls.store != nil {
		group.Go(func() error { return followCerts(ctx, s.tls.store) })
	}
	if s.pprof != "" {
		group.Go(func() error { return serveProfiles(ctx, s.pprof) })
	}
	if err := group.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serving %s failed: %w", s.path, err)
	}
	return nil
}

// redisOptions are what the server is told by flags.
func (s *settings) redisOptions() redis.Options {
	return redis.Options{
		Databases: s.databases, Password: s.password, ACLFile: s.aclFile, MaxClients: s.maxClients, Version: version,
		Path: s.path, Bind: hosts(s.listen), Unix: s.unix, Port: firstPort(s.listen), TLSPort: firstPort(s.tls.listen), Durability: s.fsync.String(), Memory: int64(s.memory),
		Anonymous: s.audit.text == "off", Exposed: s.protected.text == "no", Level: &s.level,
		Debug: s.debug.text,
	}
}

// storeMemory is the store's memory option for a flag: 0 means none there.
func storeMemory(bytes int64) int64 {
	if bytes == 0 {
		return -1
	}
	return bytes
}

// serveProfiles serves net/http/pprof until ctx ends.
func serveProfiles(ctx context.Context, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("profiles: %w", err)
	}
	return nil
}
