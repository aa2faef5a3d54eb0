package redis

import "github.com/firndb/firn/internal/rdb"

func (c *Call) wholeLog(k *keyDoc) (*rdb.Log, error) { return nil, errDamaged }
func (c *Call) newLog(l *rdb.Log) (keyDoc, error)    { return keyDoc{}, errDamaged }
