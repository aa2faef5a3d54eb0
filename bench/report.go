package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// section is one measurement's part of the report.
type section struct {
	title   string
	method  string // how it was measured, in sentences
	header  []string
	rows    [][]string
	failure string // why rows are missing, if they are
}

// report is a whole run.
type report struct {
	machine  []string
	started  time.Time
	sections []section
}

// introduction stands above the figures.
const introduction = `# Benchmarks

Written by ` + "`make bench`" + `. Everything that Redis can do as well is measured on both in the same run, in turns:
absolute figures belong to one machine on one day, the ratios are what to quote.
A bar is what the design promises, and a missed one is said to be missed.

`

// write prints the report as Markdown, which reads as a table in a terminal
// too.
func (r report) write(w io.Writer) error {
	var b strings.Builder
	b.WriteString(introduction)
	fmt.Fprintf(&b, "Measured on %s:\n\n", r.started.UTC().Format("2 January 2006"))
	for _, line := range r.machine {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	for _, s := range r.sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.title, s.method)
		if s.failure != "" {
			fmt.Fprintf(&b, "\nNot measured: %s\n", strings.ReplaceAll(s.failure, "\n", "\n    "))
		}
		if len(s.rows) > 0 {
			b.WriteByte('\n')
			writeTable(&b, s.header, s.rows)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// save writes the report to path, whole or not at all.
func (r report) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".benchmarks-")
	if err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	defer os.Remove(f.Name()) // fails after the rename, as it should
	err = r.write(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("save report: %w", err)
	}
	return nil
}

// writeTable writes a Markdown table whose columns line up in the source.
func writeTable(b *strings.Builder, header []string, rows [][]string) {
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(header))
	for i, width := range widths {
		rule[i] = strings.Repeat("-", width)
	}
	for _, row := range append([][]string{header, rule}, rows...) {
		for i, cell := range row {
			fmt.Fprintf(b, "| %s%s ", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		b.WriteString("|\n")
	}
}

// commandOutput is the first line that a command prints, or why there is none.
func commandOutput(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return name + ": " + err.Error()
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}
