package keyspace

import (
	"github.com/firndb/firn/resp"
)

// EncodingName is what OBJECT ENCODING says of a key.
func (k *KeyDoc) EncodingName() string {
	switch k.Kind {
	case KindHash:
		return hashEncoding(k)
	case KindList:
		return listEncoding(k)
	case KindSet:
		return setEncoding(k)
	case KindZSet:
		return zsetEncoding(k)
	case KindStream:
		return streamEncoding(k)
	}
	return StringEncoding(k)
}

// hashEncoding is what OBJECT ENCODING says of a hash.
func hashEncoding(k *KeyDoc) string {
	if k.Encoding == Large {
		return "hashtable"
	}
	return "listpack"
}

// setEncoding is what OBJECT ENCODING says of a set.
func setEncoding(k *KeyDoc) string {
	if k.Encoding == Large {
		return "hashtable"
	}
	return "intset"
}

// zsetEncoding is what OBJECT ENCODING says of a sorted set.
func zsetEncoding(k *KeyDoc) string {
	if k.Encoding == Large {
		return "skiplist"
	}
	return "listpack"
}

// listEncoding is what OBJECT ENCODING says of a list, of any size.
func listEncoding(*KeyDoc) string { return "quicklist" }

// streamEncoding is what OBJECT ENCODING says of a stream.
func streamEncoding(*KeyDoc) string { return "stream" }

const embeddedStringBytes = 44 // OBJ_ENCODING_EMBSTR_SIZE_LIMIT

// StringEncoding is what OBJECT ENCODING says of a string.
func StringEncoding(k *KeyDoc) string {
	if _, isInt := resp.ParseInt(k.Value); isInt && k.Encoding == Compact {
		return "int"
	}
	if k.Encoding == Large || len(k.Value) > embeddedStringBytes {
		return "raw"
	}
	return "embstr"
}
