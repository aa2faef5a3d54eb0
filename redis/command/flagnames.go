package command

// FlagNames are a command's flags as COMMAND INFO shows them, in Redis's order. A
// container that cannot be run itself has none.
func (e *Entry) FlagNames() []string {
	if e.Run == nil {
		return nil
	}
	f := e.Flags
	var names []string
	for _, flag := range []struct {
		on   bool
		name string
	}{
		{f&Writes != 0 && f&RunsScript == 0, "write"},
		{e.reads() && f&ReadsNoKeys == 0, "readonly"},
		{f&DenyOOM != 0, "denyoom"},
		{f&Admin != 0, "admin"},
		{e.In&CatPubSub != 0, "pubsub"},
		{f&NoScript != 0, "noscript"},
		{f&Blocks != 0, "blocking"},
		{f&Loading != 0, "loading"},
		{f&Stale != 0, "stale"},
		{f&RunsScript != 0, "skip_monitor"},
		{f&SkipsSlowlog != 0, "skip_slowlog"},
		{f&Fast != 0, "fast"},
		{f&NoAuth != 0, "no_auth"},
		{f&RunsScript != 0, "no_mandatory_keys"},
		{f&NoAsyncLoading != 0, "no_async_loading"},
		{f&NoMulti != 0, "no_multi"},
		{e.movableKeys(), "movablekeys"},
		{f&AllowBusy != 0, "allow_busy"},
	} {
		if flag.on {
			names = append(names, flag.name)
		}
	}
	return names
}

// reads says whether the command is one that only reads data.
func (e *Entry) reads() bool { return e.Flags&(Writes|Local|NoQueue) == 0 }
