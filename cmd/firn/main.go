// Command firn serves a store to Redis clients, and looks after its file.
//
//	firn serve orders.db
//	firn check orders.db
//	firn backup orders.db copy.db
//	firn watch orders.db
//
// It exits with 0 when all is well, 1 when something failed, 2 when it was
// not used as it is meant to be, and 130 or 143 when a second signal ended it
// at once.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run()) }

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
	exitSignal = 128 // plus the signal's number
)

func run() int {
	ctx, stop := untilSignal()
	defer stop()
	err := rootCommand().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "firn: %v\n", err)
	if _, ok := errors.AsType[usageError](err); ok || strings.HasPrefix(err.Error(), "unknown command") {
		fmt.Fprintln(os.Stderr, "firn: try firn --help")
		return exitUsage
	}
	return exitFailed
}

// untilSignal is a context that the first SIGINT or SIGTERM ends. The second
// ends the process.
func untilSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2) // as many as are waited for
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-done:
			return
		}
		select {
		case second := <-signals:
			if n, ok := second.(syscall.Signal); ok {
				os.Exit(exitSignal + int(n))
			}
			os.Exit(exitFailed)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "firn",
		Short:         "A document store that remembers every version and speaks Redis",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(serveCommand(), backupCommand(), restoreCommand(), logCommand(), historyCommand(), diffCommand(), atCommand(), watchCommand(),
		checkCommand(), reindexCommand(), versionCommand())
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of firn and of what it is built with",
		Args:  arguments(cobra.NoArgs),
		Run: func(c *cobra.Command, _ []string) {
			fmt.Fprintf(c.OutOrStdout(), "firn %s %s %s/%s sqlite %s\n",
				version, runtime.Version(), runtime.GOOS, runtime.GOARCH, moduleVersion("modernc.org/sqlite"))
		},
	}
}

// moduleVersion is the version of a module that the program was built with.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}
