package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firndb/firn/resp/reply"
)

// parameter is one part of a request's query.
type parameter struct{ name, value string }

// query are the parameters in the order in which they came: that of arguments
// matters.
type query []parameter

// queryOf reads the parameters of a request, of which only some names mean
// something. Any bytes can be given, as %ff.
func queryOf(r *http.Request, known ...string) (query, error) {
	var q query
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, badName := url.QueryUnescape(name)
		value, badValue := url.QueryUnescape(value)
		switch {
		case badName != nil || badValue != nil:
			return nil, refuse(http.StatusBadRequest, "ERR the query has a % that two hexadecimal digits do not follow")
		case !slices.Contains(known, name):
			return nil, refuse(http.StatusBadRequest, "ERR unknown parameter "+quoted(name)+": there is "+strings.Join(known, ", "))
		case len(q) == maxWords:
			return nil, refuse(http.StatusBadRequest, "ERR the query has too many parameters: choose "+strconv.Itoa(maxWords)+" at most")
		}
		q = append(q, parameter{name, value})
	}
	return q, nil
}

func quoted(name string) string { return string(reply.AppendString(nil, name)) }

// all are the values of a name.
func (q query) all(name string) (values []string) {
	for _, p := range q {
		if p.name == name {
			values = append(values, p.value)
		}
	}
	return values
}

// one is the value of a name that may be given once.
func (q query) one(name string) (value string, given bool, err error) {
	values := q.all(name)
	switch len(values) {
	case 0:
		return "", false, nil
	case 1:
		return values[0], true, nil
	}
	return "", true, refuse(http.StatusBadRequest, "ERR "+name+" is given more than once")
}

// required is the value of a name that must be given.
func (q query) required(name string) (string, error) {
	value, given, err := q.one(name)
	if err == nil && !given {
		err = refuse(http.StatusBadRequest, "ERR "+name+" is missing")
	}
	return value, err
}

// flag is whether a name is given, and not as 0, no or false.
func (q query) flag(name string) (bool, error) {
	value, given, err := q.one(name)
	switch strings.ToLower(value) {
	case "":
		return given, err
	case "1", "yes", "true":
		return true, err
	case "0", "no", "false":
		return false, err
	}
	return false, refuse(http.StatusBadRequest, "ERR "+name+" is yes or no")
}

// database is the database that a query names; 0 if it names none.
func (q query) database() (int64, error) {
	value, given, err := q.one("db")
	if err != nil || !given {
		return 0, err
	}
	db, bad := strconv.ParseInt(value, 10, 32)
	if bad != nil || db < 0 {
		return 0, refuse(http.StatusBadRequest, "ERR db is not the number of a database")
	}
	return db, nil
}
