package rdb

// LZF is a sequence of runs of literal bytes and of references to bytes that
// were there before:
//
//	000nnnnn                    n + 1 bytes follow, as they are
//	nnnooooo oooooooo           n + 2 bytes from o + 1 bytes back, n from 1 to 6
//	111ooooo nnnnnnnn oooooooo  n + 9 bytes from o + 1 bytes back
const (
	maxLiteral   = 1 << 5
	maxReference = 1<<8 + 8
	maxOffset    = 1 << 13

	// lzfHashBits is the size of the table of places where three bytes were
	// seen: 64 KiB, as many as a reference reaches back, twice.
	lzfHashBits = 14
)

// unpackLZF undoes packLZF. ok is false if b does not hold exactly size bytes.
func unpackLZF(b []byte, size uint64) (out []byte, ok bool) {
	// Three bytes make at most maxReference, so a size beyond is a lie.
	if len(b) == 0 || size == 0 || size > (uint64(len(b))/3+1)*maxReference {
		return nil, false
	}
	out = make([]byte, 0, size)
	for i := 0; i < len(b); {
		control := int(b[i])
		i++
		if control < maxLiteral {
			n := control + 1
			if n > len(b)-i || n > cap(out)-len(out) {
				return nil, false
			}
			out = append(out, b[i:i+n]...)
			i += n
			continue
		}
		n := control >> 5
		if n == 7 {
			if i == len(b) {
				return nil, false
			}
			n += int(b[i])
			i++
		}
		n += 2
		if i == len(b) {
			return nil, false
		}
		from := len(out) - (control&0x1f<<8 | int(b[i])) - 1
		i++
		if from < 0 || n > cap(out)-len(out) {
			return nil, false
		}
		for ; n > 0; n-- { // the two may overlap
			out = append(out, out[from])
			from++
		}
	}
	return out, uint64(len(out)) == size
}

// packLZF compresses b. ok is false if that would save less than four bytes.
func packLZF(b []byte) (out []byte, ok bool) {
	most := len(b) - 4
	out = make([]byte, 0, len(b))
	var seen [1 << lzfHashBits]int32 // where, plus 1
	literal := 0                     // where the bytes begin that are not written yet
	for i := 0; i+2 < len(b); {
		at := &seen[lzfHash(b[i:])]
		from := int(*at) - 1
		*at = int32(i + 1)
		n := 0
		if from >= 0 && i-from <= maxOffset {
			n = sharedLZF(b, from, i)
		}
		if n < 3 {
			i++
			continue
		}
		out = appendReference(appendLiterals(out, b[literal:i]), n, i-from)
		if len(out) > most {
			return nil, false
		}
		literal = i + n
		for i++; i < literal && i+2 < len(b); i++ {
			seen[lzfHash(b[i:])] = int32(i + 1)
		}
		i = literal
	}
	out = appendLiterals(out, b[literal:])
	return out, len(out) <= most
}

func lzfHash(b []byte) uint32 {
	v := uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	return v * 2654435761 >> (32 - lzfHashBits) // Knuth's multiplier
}

// sharedLZF is how many bytes from i on are those from an earlier place on.
func sharedLZF(b []byte, from, i int) int {
	n := 0
	for n < maxReference && i+n < len(b) && b[from+n] == b[i+n] {
		n++
	}
	return n
}

func appendLiterals(dst, b []byte) []byte {
	for len(b) > 0 {
		n := min(len(b), maxLiteral)
		dst = append(dst, byte(n-1))
		dst = append(dst, b[:n]...)
		b = b[n:]
	}
	return dst
}

// appendReference appends a reference to n bytes, 3 to maxReference, from back
// bytes before.
func appendReference(dst []byte, n, back int) []byte {
	n, back = n-2, back-1
	if n < 7 {
		return append(dst, byte(n<<5|back>>8), byte(back))
	}
	return append(dst, byte(7<<5|back>>8), byte(n-7), byte(back))
}
