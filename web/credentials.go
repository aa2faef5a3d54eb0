package web

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// credentials are who a request says that it comes from.
type credentials struct {
	given          bool
	user, password string
}

var errCredentials = &problem{http.StatusUnauthorized, "WRONGPASS",
	"WRONGPASS the Authorization header is neither Basic with user:password nor Bearer with a password"}

// errAnonymous is said instead of HELLO's words, which are about HELLO.
var errAnonymous = &problem{http.StatusUnauthorized, "NOAUTH",
	"NOAUTH authentication required: Authorization: Basic with user:password, or Bearer with the password of default"}

// credentialsOf reads the Authorization header: Basic has a user and a
// password, as AUTH user password, and Bearer a password of the user default,
// as AUTH password. A user without a name is default, too.
func credentialsOf(r *http.Request) (c credentials, err *problem) {
	text := r.Header.Get("Authorization")
	if text == "" {
		return c, nil
	}
	scheme, rest, _ := strings.Cut(text, " ")
	c.given = true
	switch rest = strings.TrimSpace(rest); {
	case strings.EqualFold(scheme, "Bearer") && rest != "":
		c.user, c.password = "default", rest
		return c, nil
	case strings.EqualFold(scheme, "Basic"):
		raw, bad := base64.StdEncoding.DecodeString(rest)
		user, password, ok := strings.Cut(string(raw), ":")
		if bad == nil && ok {
			c.user, c.password = orDefault(user), password
			return c, nil
		}
	}
	return c, errCredentials
}

func orDefault(user string) string {
	if user == "" {
		return "default"
	}
	return user
}
