package redis

import "github.com/firndb/firn/redis/keyspace"

// infoScripts counts scripts and functions. Functions that are written in Go
// are not counted; those of libraries are as the client sees them, at the moment
// of CLIENT ASOF. Code is documents, so it is data; what it takes once it is
// compiled is shown as memory of the virtual machine.
func infoScripts(t *infoText, sizes func(name string, n uint64)) error {
	scripts, code, _ := t.srv.scripts.Cached()
	compiled := t.srv.scripts.FunctionBytes()
	libraries, functions := 0, 0
	err := t.call.Current(func(v *keyspace.View) (err error) {
		libraries, functions, err = keyspace.CountLibraries(v)
		return err
	})
	if err != nil {
		return err
	}
	sizes("used_memory_lua", uint64(code))
	t.addAll(
		"used_memory_vm_eval", code,
		"used_memory_scripts_eval", code,
		"number_of_cached_scripts", scripts,
		"number_of_functions", functions,
		"number_of_libraries", libraries,
		"used_memory_vm_functions", compiled,
	)
	sizes("used_memory_vm_total", uint64(code+compiled))
	t.add("used_memory_functions", 0)
	sizes("used_memory_scripts", uint64(code))
	return nil
}
