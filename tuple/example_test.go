package tuple_test

import (
	"fmt"
	"slices"

	"github.com/firndb/firn/tuple"
)

// Tuples sort as their elements do, one after the other: numbers as numbers,
// and a text before all that it begins.
func Example() {
	id := func(city string, year int64) string {
		return string(tuple.AppendInt(tuple.AppendString(nil, city), year))
	}
	ids := []string{id("Rome", 9), id("Romeo", 1), id("Rome", 10), id("Bonn", 1949)}
	slices.Sort(ids)
	for _, id := range ids {
		city, rest, err := tuple.TakeString(id)
		if err != nil {
			panic(err)
		}
		year, _, err := tuple.TakeInt(rest)
		if err != nil {
			panic(err)
		}
		fmt.Println(city, year)
	}
	// Output:
	// Bonn 1949
	// Rome 9
	// Rome 10
	// Romeo 1
}

// A range of all tuples that begin with the same elements goes from those to
// PrefixEnd of them: bounds for firn.Range.
func ExamplePrefixEnd() {
	from := tuple.AppendString(nil, "Rome")
	to := tuple.PrefixEnd(from)
	for _, city := range []string{"Rome", "Romeo"} {
		id := tuple.AppendInt(tuple.AppendString(nil, city), 1960)
		fmt.Println(city, string(from) <= string(id) && string(id) < string(to))
	}
	// Output:
	// Rome true
	// Romeo false
}

// PrefixLen finds where the elements end that a range has in common.
func ExamplePrefixLen() {
	id := string(tuple.AppendInt(tuple.AppendString(nil, "Rome"), 1960))
	n, ok := tuple.PrefixLen(id, 1)
	city, _, err := tuple.TakeString(id[:n])
	fmt.Println(city, ok, err)
	// Output: Rome true <nil>
}
