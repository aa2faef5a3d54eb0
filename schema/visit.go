package schema

// PageBytes is about how much of ids, keys and values a session hands out at
// once: a page ends before the row that would make it larger, so it has at
// least one.
const PageBytes = 4 << 20

// Visit is a row that a walk has come to. The row belongs to the visit and is
// gone when that ends, but for its ID. Its Value is nil: the value has not
// been read.
type Visit struct {
	Row
	ValueBytes int // 0 also if there is no value

	from valuer
}

// valuer reads the value of the row that it stands at.
type valuer interface{ value() ([]byte, error) }

// Value reads the value. It is the session's and is gone when the visit ends:
// a large one is the engine's own copy, and the only one in memory.
func (v *Visit) Value() ([]byte, error) { return v.from.value() }

// Copy is the row with its value, and the caller's.
func (v *Visit) Copy() (*Row, error) {
	value, err := v.Value()
	if err != nil {
		return nil, err
	}
	row := v.Row
	if value != nil {
		row.Value = append(make([]byte, 0, len(value)), value...)
	}
	return &row, nil
}
