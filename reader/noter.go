package reader

import "iter"

// Noter hears what was asked of an Ordered.
type Noter interface {
	// Passed says that the answer depends on which keys there are from from,
	// inclusive, to to, exclusive; "" is the end of the range.
	Passed(from, to string)

	// Read says that it depends on a document, too.
	Read(Item)
}

// Tell lets n hear what is asked of o from now on.
func Tell(o *Ordered, n Noter) { o.noter = n }

func (o *Ordered) passed(from, to string) {
	if o.noter != nil {
		o.noter.Passed(from, to)
	}
}

func (o *Ordered) read(item Item, err error) {
	if o.noter != nil && err == nil {
		o.noter.Read(item)
	}
}

// noted is a walk from a key, of which is told how far it came.
func (o *Ordered) noted(from string, down bool, walk iter.Seq2[Item, error]) iter.Seq2[Item, error] {
	if o.noter == nil {
		return walk
	}
	return func(yield func(Item, error) bool) {
		last := ""
		for item, err := range walk {
			o.read(item, err)
			last = item.Key
			if !yield(item, err) {
				if down {
					o.passed(last, from)
				} else {
					o.passed(from, last+"\x00")
				}
				return
			}
		}
		if down {
			o.passed("", from)
		} else {
			o.passed(from, "")
		}
	}
}
