package keyspace

// SetExpiry gives a live key an expiry, or none, and says so.
func (v *View) SetExpiry(s *Slot, expires int64, event string) error {
	s.Key.Expires = expires
	if err := v.Write(s, s.Key); err != nil {
		return err
	}
	v.NotifyIn(s.DB, EventGeneric, event, s.Name)
	return nil
}
