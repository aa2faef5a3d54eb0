package schema

import "fmt"

// Ids of tables and indexes are BLOBs: big endian, no leading zero bytes. So
// SQLite orders them by bytes: ids of one length as numbers, 256 before 2.

// appendID appends the stored form of a table's or index's id.
func appendID(dst []byte, id uint32) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		if id>>shift != 0 {
			dst = append(dst, byte(id>>shift))
		}
	}
	return dst
}

// parseID reads what appendID wrote.
func parseID(b []byte) (uint32, error) {
	if len(b) == 0 || len(b) > 4 || b[0] == 0 {
		return 0, fmt.Errorf("%w: id %x of a table or index", ErrCorrupt, b)
	}
	id := uint32(0)
	for _, c := range b {
		id = id<<8 | uint32(c)
	}
	return id, nil
}
