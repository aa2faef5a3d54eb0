package tracking

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// Check says whether a client may go from one state to another.
func (want *State) Check(now *State) error {
	switch {
	case len(want.Prefixes) > 0 && !want.Bcast:
		return resp.Error("ERR PREFIX option requires BCAST mode to be enabled")
	case now.On && now.Bcast != want.Bcast:
		return resp.Error("ERR You can't switch BCAST mode on/off before disabling tracking for this client, " +
			"and then re-enabling it with a different mode.")
	case want.Bcast && (want.OptIn || want.OptOut):
		return resp.Error("ERR OPTIN and OPTOUT are not compatible with BCAST")
	case want.OptIn && want.OptOut:
		return resp.Error("ERR You can't specify both OPTIN mode and OPTOUT mode")
	case want.OptIn && now.OptOut, want.OptOut && now.OptIn:
		return resp.Error("ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, " +
			"and then re-enabling it with a different mode.")
	case len(want.Prefixes)+len(now.Prefixes) > maxPrefixes:
		return resp.Error("ERR too many prefixes")
	}
	return checkPrefixes(want.Prefixes, now.Prefixes)
}

// checkPrefixes refuses prefixes of which one begins with another: a key would
// be told twice.
func checkPrefixes(prefixes, before []string) error {
	before = slices.Sorted(slices.Values(before)) // the first one is named
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
