//go:build !linux

package server

import "context"

const haveLoops = false

func (s *Server) runLoops(ctx context.Context) error { return s.runPortable(ctx) }
