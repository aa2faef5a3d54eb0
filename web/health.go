package web

import (
	"net/http"
)

// healthy says that the process answers. Whoever is told otherwise may start
// it anew.
func (s *Server) healthy(w http.ResponseWriter, _ *http.Request) error {
	writeText(w, http.StatusOK, "ok\n")
	return nil
}

// ready says whether the server would take a write now: the store is open, its
// writer has not stopped, and there is room for one more client. Whoever is
// told otherwise should send clients elsewhere, if there is an elsewhere.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) error {
	if err := s.redis.Ready(); err != nil {
		writeText(w, http.StatusServiceUnavailable, err.Error()+"\n")
		return nil
	}
	writeText(w, http.StatusOK, "ok\n")
	return nil
}
