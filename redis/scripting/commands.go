package scripting

import "github.com/firndb/firn/redis/command"

// Commands are those of this package.
func Commands() []command.Command {
	return append(evalCommands(), scriptCommand(), fcall, fcallRO, functionCommand)
}
