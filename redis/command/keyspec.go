package command

import "slices"

// Use says how a command uses a key, in the flags that COMMAND INFO shows.
type Use uint16

// RO, RW, OW (overwrites) and RM (removes) say what the command does to the
// key as a whole; the others what it does to the value in it.
const (
	useRO Use = 1 << iota
	useRW
	useOW
	useRM
	useAccess // its value, or part of it, is replied or copied
	useUpdate
	useInsert
	useDelete
	useNot      // no key, but goes where a key of the name would be
	useVariable // depends on the arguments
)

var useNames = [...]string{"RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key", "variable_flags"}

// How commands use their keys.
const (
	Looks      = useRO                         // at its existence, its length, its type
	Reads      = useRO | useAccess             // tells or copies its value, or part of it
	Changes    = useRW | useAccess | useUpdate // its value, and tells of it
	Updates    = useRW | useUpdate             // its value, and tells nothing of it
	Inserts    = useRW | useInsert             // into its value
	Deletes    = useRW | useDelete             // from its value
	Takes      = useRW | useAccess | useDelete // from its value what it tells
	Gathers    = useRW | useAccess | useInsert // into its value, which counts as well
	Recodes    = useRW | useAccess             // its value, which stays the same
	Overwrites = useOW | useUpdate             // the key, whatever it was
	Creates    = useOW | useInsert             // the key, which must not be there
	Removes    = useRM | useDelete             // the key
	IsChannel  = useNot                        // it is no key
)

// Names are the flags as COMMAND INFO shows them.
func (u Use) Names() []string {
	var names []string
	for i, name := range useNames {
		if u&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// reads says whether what is in the key can be learnt from the reply, or from
// another key.
func (u Use) reads() bool { return u&useAccess != 0 }

// writes says whether the key is changed.
func (u Use) writes() bool { return u&(useUpdate|useInsert|useDelete) != 0 }

// Keys says where a command's keys are, and what it does to them. Places count
// from the first argument, which is 1. COMMAND INFO's first key, last key, step
// and specifications follow from it, and so do COMMAND GETKEYS, the access that
// ACL demands, and tracking.
type Keys []KeySpec

// KeySpec is one key specification, in Redis's terms.
type KeySpec struct {
	Use     Use
	Begin   int    // word where the keys, or their number, begin; with keyword where it is sought from
	Keyword string // upper case; the keys begin behind it
	Last    int    // the last key: counts from the first, or if negative from the end
	Step    int    // between two keys
	Limit   int    // 2: only the first half of the words has keys
	Counted bool   // the number of keys comes first
	Unknown bool   // COMMAND INFO cannot tell where
	Notes   string // what COMMAND INFO says besides

	vary func(args [][]byte) Use // how the key is used with these arguments; nil: as Use says
	find func(args [][]byte) int // index of an unknown key, -1 if there is none; nil: there never is
}

// FirstKey is the first argument.
func FirstKey(use Use) Keys { return KeyAt(1, use) }

// KeyAt is an argument.
func KeyAt(n int, use Use) Keys { return Keys{{Use: use, Begin: n, Step: 1}} }

// AllKeys are all arguments.
func AllKeys(use Use) Keys { return KeysFrom(1, -1, 1, use) }

// KeysFrom are the arguments from one to another, which counts from the end if
// it is negative; every second one with a step of two.
func KeysFrom(first, last, step int, use Use) Keys {
	if last > 0 {
		last -= first
	}
	return Keys{{Use: use, Begin: first, Last: last, Step: step}}
}

// CountedKeys are as many arguments as the argument before them says.
func CountedKeys(at int, use Use) Keys {
	return Keys{{Use: use, Begin: at, Step: 1, Counted: true}}
}

// KeyAfter is the argument behind a word in upper case, which is sought from a
// place on. The word may be there several times.
func KeyAfter(word string, from int, use Use) Keys {
	return Keys{{Use: use, Begin: from, Keyword: word, Step: 1}}
}

// KeysAfter are the first half of the arguments behind a word in upper case.
// Nothing but options is before it.
func KeysAfter(word string, from int, use Use) Keys {
	return Keys{{Use: use, Begin: from, Keyword: word, Last: -1, Step: 1, Limit: 2}}
}

// HiddenKeys are at a place that depends on more than the arguments.
func HiddenKeys(use Use) Keys { return HiddenKey(use, nil) }

// HiddenKey is at the index that find says; -1 if there is none.
func HiddenKey(use Use, find func(args [][]byte) int) Keys {
	return Keys{{Use: use, Step: 1, Unknown: true, find: find}}
}

// And adds keys that are elsewhere, or are used otherwise.
func (k Keys) And(more Keys) Keys { return slices.Concat(k, more) }

// Noted are the keys with a note for the last of them.
func (k Keys) Noted(text string) Keys {
	noted := slices.Clone(k)
	noted[len(noted)-1].Notes = text
	return noted
}

// Varying are the keys if their use depends on the command's arguments.
func (k Keys) Varying(use func(args [][]byte) Use) Keys {
	varied := slices.Clone(k)
	for i := range varied {
		varied[i].Use |= useVariable
		varied[i].vary = use
	}
	return varied
}

// within are the keys of a command whose name has more words than one: Redis
// counts these as well.
func (k Keys) within(depth int) []KeySpec {
	specs := slices.Clone(k)
	for i := range specs {
		if !specs[i].Unknown {
			specs[i].Begin += depth
		}
	}
	return specs
}
