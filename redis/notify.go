package redis

// eventClass is a class of keyspace notifications, by Redis's letter for it
// in notify-keyspace-events.
type eventClass byte

const (
	eventGeneric eventClass = 'g'
	eventString  eventClass = '$'
	eventList    eventClass = 'l'
	eventSet     eventClass = 's'
	eventHash    eventClass = 'h'
	eventZSet    eventClass = 'z'
	eventStream  eventClass = 't'
	eventExpired eventClass = 'x'
	eventNew     eventClass = 'n'
	eventMiss    eventClass = 'm'
)

// notify tells those who listen that a command did something to a key of the
// selected database, once the transaction is committed. It costs nothing when
// nobody listens.
func (c *Call) notify(class eventClass, event string, key []byte) {}

// notifyIn is notify for a key of another database.
func (c *Call) notifyIn(db int, class eventClass, event string, key []byte) {}
