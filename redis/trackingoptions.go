package redis

import (
	"fmt"
	"strings"

	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn/resp"
)

// check says whether a client may go from one state to another.
func (want *trackerState) check(now *trackerState) error {
	switch {
	case len(want.prefixes) > 0 && !want.bcast:
		return resp.Error("ERR PREFIX option requires BCAST mode to be enabled")
	case now.on && now.bcast != want.bcast:
		return resp.Error("ERR You can't switch BCAST mode on/off before disabling tracking for this client, " +
			"and then re-enabling it with a different mode.")
	case want.bcast && (want.optIn || want.optOut):
		return resp.Error("ERR OPTIN and OPTOUT are not compatible with BCAST")
	case want.optIn && want.optOut:
		return resp.Error("ERR You can't specify both OPTIN mode and OPTOUT mode")
	case want.optIn && now.optOut, want.optOut && now.optIn:
		return resp.Error("ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, " +
			"and then re-enabling it with a different mode.")
	case len(want.prefixes)+len(now.prefixes) > maxPrefixes:
		return resp.Error("ERR too many prefixes")
	}
	return checkPrefixes(want.prefixes, now.prefixes)
}

// checkPrefixes refuses prefixes of which one begins with another: a key would
// be told twice.
func checkPrefixes(prefixes, before []string) error {
	for i, a := range prefixes {
		for _, b := range before {
			if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
				return overlap(a, "an existing", b)
			}
		}
		for _, b := range prefixes[i+1:] {
			if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
				return overlap(a, "another provided", b)
			}
		}
	}
	return nil
}

func overlap(a, which, b string) error {
	return resp.Error(fmt.Sprintf("ERR Prefix '%s' overlaps with %s prefix '%s'. Prefixes for a single client must not overlap.",
		command.CString([]byte(a), len(a)), which, command.CString([]byte(b), len(b))))
}
