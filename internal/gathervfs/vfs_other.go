//go:build !linux

package gathervfs

// VFS is the file system that it was asked to stand over.
type VFS struct{ name string }

// Over does nothing.
func Over(base string) (*VFS, error) { return &VFS{base}, nil }

// Name is the name of the file system below.
func (v *VFS) Name() string { return v.name }

// FillLeaves does nothing.
func (v *VFS) FillLeaves(string) bool { return false }

// Unregister does nothing.
func (v *VFS) Unregister() {}
