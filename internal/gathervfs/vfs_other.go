//go:build !linux

package gathervfs

// VFS is the file system that it was asked to stand over.
type VFS struct{ name string }

// Over does nothing.
func Over(base string) (*VFS, error) { return &VFS{base}, nil }

// Name is the name of the file system below.
func (v *VFS) Name() string { return v.name }

// Statement is none.
type Statement struct{}

// Statement finds none.
func (v *VFS) Statement(string) Statement { return Statement{} }

// FillLeaves does nothing.
func (s Statement) FillLeaves() bool { return false }

// Lend does nothing.
func (s Statement) Lend(int, []byte, bool) bool { return false }

// Unregister does nothing.
func (v *VFS) Unregister() {}
