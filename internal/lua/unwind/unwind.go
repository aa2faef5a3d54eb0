// Package unwind ends a computation from deep inside it.
//
// Errors of Lua programs pass through many calls of Go that neither cause nor
// handle them: through a metamethod, a comparison that sorts, a replacement in
// a pattern. Each of them would have to hand the error on, at each step of a
// program. A panic does, and who began the computation recovers it.
package unwind

// Throw ends what runs, up to who recovers the value.
func Throw(v any) { panic(v) }
