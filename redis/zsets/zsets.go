package zsets

import (
	"slices"

	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// ReplyZSetState appends a sorted set as ZRANGE 0 -1 WITHSCORES does.
func ReplyZSetState(v *keyspace.View, w *resp.Writer, k *keyspace.KeyDoc) error {
	l := beginRated(w, true)
	if err := keyspace.EachMember(v, k, l.add); err != nil {
		return err
	}
	l.end()
	return nil
}

// ratedReply is an array of members, with their scores or without, whose
// length is known at its end. In protocol 3 a member and its score are an
// array of their own.
type ratedReply struct {
	w          *resp.Writer
	start      int // where in the reply it begins
	n          int // members
	withScores bool
}

func beginRated(w *resp.Writer, withScores bool) *ratedReply {
	return &ratedReply{w: w, start: len(w.Buf), withScores: withScores}
}

// add appends a member; it never fails.
func (l *ratedReply) add(m keyspace.Rated) error {
	l.n++
	r := l.w
	if l.withScores && r.Proto == 3 {
		r.Array(2)
	}
	r.BulkString(m.Member)
	if l.withScores {
		r.Double(m.Score)
	}
	return nil
}

// end puts the array's header in front.
func (l *ratedReply) end() {
	n := l.n
	if l.withScores && l.w.Proto != 3 {
		n *= 2
	}
	var room [24]byte
	header := resp.Writer{Buf: room[:0]}
	header.Array(n)
	l.w.Buf = slices.Insert(l.w.Buf, l.start, header.Buf...)
}

// replyRated replies members that are known, as a ratedReply does.
func replyRated(w *resp.Writer, members []keyspace.Rated, withScores bool) {
	l := beginRated(w, withScores)
	for _, m := range members {
		_ = l.add(m)
	}
	l.end()
}
