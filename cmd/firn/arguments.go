package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// version is set by the linker.
var version = "dev"

// usageError is a mistake of whoever typed the command.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// arguments makes a check of positional arguments a usage error.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// fromEnvironment sets the flags that were not given from FIRN_ and their
// names, upper case with underscores: FIRN_REQUIREPASS for --requirepass.
func fromEnvironment(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "FIRN_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if f.Changed || !ok || failed != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = usageError{fmt.Errorf("%s: %w", name, err)}
		}
	})
	return failed
}
