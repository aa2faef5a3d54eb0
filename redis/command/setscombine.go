package command

import (
	"github.com/firndb/firn/resp"
)

const ErrNegativeLimit = resp.Error("ERR LIMIT can't be negative")
