package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errNotLoopback means that a server can be reached from outside the machine.
var errNotLoopback = errors.New("it listens on more than loopback")

// onlyLoopback returns an error unless every socket that listens on port has a
// loopback address. Benchmarks run without passwords, so nobody else may reach
// the servers.
func onlyLoopback(port int) error {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, ip := range listeners(string(text), port) {
			if !ip.IsLoopback() {
				return fmt.Errorf("%w: %s", errNotLoopback, net.JoinHostPort(ip.String(), strconv.Itoa(port)))
			}
		}
	}
	return nil
}

// listeners reads a table of the kernel's and returns the addresses of the
// sockets in state LISTEN, 0A there, on port.
func listeners(table string, port int) []net.IP {
	var ips []net.IP
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != "0A" {
			continue
		}
		host, hexPort, _ := strings.Cut(fields[1], ":")
		if n, err := strconv.ParseUint(hexPort, 16, 16); err == nil && int(n) == port {
			ips = append(ips, kernelIP(host))
		}
	}
	return ips
}

// kernelIP reads an address in hex, which the kernel prints as 32-bit words in
// the byte order of the machine: little-endian on all that we measure on.
func kernelIP(digits string) net.IP {
	var ip net.IP
	for i := 0; i+8 <= len(digits); i += 8 {
		word, err := strconv.ParseUint(digits[i:i+8], 16, 32)
		if err != nil {
			return nil
		}
		ip = append(ip, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	return ip
}

// residentBytes is the memory that a process has in RAM.
func residentBytes(pid int) (int64, error) {
	kib, err := procField(fmt.Sprintf("/proc/%d/status", pid), "VmRSS")
	return kib << 10, err
}

// procField reads a number from a file with lines like "name:   123 kB".
func procField(path, name string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		rest, ok := strings.CutPrefix(scanner.Text(), name+":")
		if fields := strings.Fields(rest); ok && len(fields) > 0 {
			return strconv.ParseInt(fields[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no field %s", path, name)
}

// settle waits until a process has used next to no CPU for a while, so that
// the work it put off does not fall into somebody else's measurement. It gives
// up silently after ten seconds: a server that is never idle has that as its
// cost.
func settle(ctx context.Context, pid int) {
	const interval, limit = 200 * time.Millisecond, 10 * time.Second
	const calm = 7 // intervals: Firn begins to merge when it has idled for a second
	again := time.NewTicker(interval)
	defer again.Stop()
	before, quiet := cpuTicks(pid), 0
	for waited := time.Duration(0); waited < limit; waited += interval {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		// A tick is 10 ms: one in 200 ms is 5 % of a core.
		now := cpuTicks(pid)
		if quiet++; now-before > 1 {
			quiet = 0
		}
		if quiet == calm {
			return
		}
		before = now
	}
}

// tick is the kernel's unit of a process's CPU time.
const tick = 10 * time.Millisecond

// cpuTicks is the CPU time of a process, user and system, in clock ticks.
func cpuTicks(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The second field is the program's name in parentheses and may hold
	// spaces; what follows it is numbers, utime and stime at 11 and 12.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return user + system
}

// sizeBytes is the size of a file, or of all files below a directory; what
// does not exist has none.
func sizeBytes(path string) int64 {
	var total int64
	_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // a file that went away while we walked
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}

// describeMachine says what the figures were measured on.
func describeMachine(l *lab) []string {
	memoryKiB, _ := procField("/proc/meminfo", "MemTotal")
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return []string{
		fmt.Sprintf("%d cores, %s", runtime.NumCPU(), processor()),
		fmt.Sprintf("%.1f GiB of memory", float64(memoryKiB)/(1<<20)),
		"Linux " + strings.TrimSpace(string(kernel)),
		runtime.Version(),
		commandOutput("redis-server", "--version"),
		"files on " + fileSystem(l.dir),
	}
}

// processor is the model of the first core.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown model"
}

// fileSystem names the kind of file system, because an fsync on one that
// lives in memory costs nothing and the figures must say so.
func fileSystem(path string) string {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return "an unknown file system"
	}
	known := map[int64]string{
		0xEF53: "ext4", 0x58465342: "xfs", 0x9123683E: "btrfs", 0x794C7630: "overlayfs",
		0x01021994: "tmpfs (in memory: fsync is free here)", 0x6969: "nfs", 0x2FC12FC1: "zfs",
	}
	if name, ok := known[int64(stat.Type)]; ok {
		return name
	}
	return fmt.Sprintf("file system type %#x", stat.Type)
}
