package redis

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firndb/firn/resp"
)

// clientClass is a class of clients in client-output-buffer-limit.
type clientClass int

const (
	normalClients clientClass = iota
	replicaClients
	pubsubClients
)

// outputLimit is what a client of one class may leave unread.
type outputLimit struct {
	hard    int64 // bytes; more ends the client at once; 0: any amount
	soft    int64 // bytes; more for longer than seconds ends it; 0: any amount
	seconds int64
}

// outputLimits are the limits by class.
type outputLimits [3]outputLimit

// defaultOutputLimits are Redis's.
var defaultOutputLimits = outputLimits{
	replicaClients: {256 << 20, 64 << 20, 60},
	pubsubClients:  {32 << 20, 8 << 20, 60},
}

// classNames are the names that CONFIG GET shows.
var classNames = [...]string{normalClients: "normal", replicaClients: "slave", pubsubClients: "pubsub"}

// String is the limits as CONFIG GET shows them.
func (l *outputLimits) String() string {
	var words []string
	for class, l := range l {
		words = append(words, fmt.Sprintf("%s %d %d %d", classNames[class], l.hard, l.soft, l.seconds))
	}
	return strings.Join(words, " ")
}

// with is the limits after those in value, the text of CONFIG SET, are changed.
func (l outputLimits) with(value string) (*outputLimits, error) {
	var words []string
	if value != "" {
		words = strings.Split(value, " ")
	}
	if len(words)%4 != 0 {
		return nil, resp.Error("Wrong number of arguments in buffer limit configuration.")
	}
	for ; len(words) > 0; words = words[4:] {
		class := normalClients
		switch strings.ToLower(words[0]) {
		case "normal":
		case "slave", "replica":
			class = replicaClients
		case "pubsub":
			class = pubsubClients
		default:
			return nil, resp.Error("Invalid client class specified in buffer limit configuration.")
		}
		hard, err := ParseBytes(words[1])
		soft, err2 := ParseBytes(words[2])
		seconds, err3 := strconv.ParseInt(words[3], 10, 32)
		if err != nil || err2 != nil || err3 != nil || seconds < 0 {
			return nil, resp.Error("Error in hard, soft or soft_seconds setting in buffer limit configuration.")
		}
		l[class] = outputLimit{hard, soft, seconds}
	}
	return &l, nil
}
