package keyspace

// Kind is the type of a key. The numbers are stored.
type Kind uint8

const (
	KindNone   Kind = 0
	KindString Kind = 1
	KindHash   Kind = 2
	KindList   Kind = 3
	KindSet    Kind = 4
	KindZSet   Kind = 5
	KindStream Kind = 6
)

var kindNames = [...]string{
	KindNone: "none", KindString: "string", KindHash: "hash",
	KindList: "list", KindSet: "set", KindZSet: "zset", KindStream: "stream",
}

// String is the type's name as TYPE gives it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "none"
}

// ParseKind is the type that has a name; ok is false if none has.
func ParseKind(name string) (k Kind, ok bool) {
	for k := KindString; k <= KindStream; k++ {
		if kindNames[k] == name {
			return k, true
		}
	}
	return KindNone, false
}
