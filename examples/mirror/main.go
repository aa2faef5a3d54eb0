// Mirror keeps orders in another database, here SQLite: each change exactly
// once, because the token is stored with the data, in one transaction.
//
//	firn serve &
//	go run ./mirror -to orders.db &
//	redis-cli HSET order:17 status paid
//	sqlite3 orders.db 'SELECT * FROM orders'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

var (
	address = flag.String("address", "127.0.0.1:6379", "`host:port` of the server")
	to      = flag.String("to", "orders.db", "`file` of the SQLite database")
	once    = flag.Bool("once", false, "end when all is there")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := mirror(ctx); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

const tables = `
CREATE TABLE IF NOT EXISTS orders (id TEXT, field TEXT, value TEXT, PRIMARY KEY (id, field));
CREATE TABLE IF NOT EXISTS place (token TEXT)`

func mirror(ctx context.Context) error {
	copied, err := sqlite.OpenConn(*to)
	if err != nil {
		return err
	}
	defer copied.Close()
	if err := sqlitex.ExecuteScript(copied, tables, nil); err != nil {
		return err
	}
	db := redis.NewClient(&redis.Options{Addr: *address, ReadTimeout: time.Minute, MaxRetries: -1})
	defer db.Close()
	for ctx.Err() == nil {
		more, err := page(ctx, db, copied)
		var refused redis.Error
		switch {
		case errors.As(err, &refused) && (isGone(refused, "COMPACTED") || isGone(refused, "FORKED")):
			log.Printf("%v: beginning anew", err)
			err = anew(ctx, db, copied)
		case errors.As(err, &refused):
			return err
		case err == nil && *once && !more:
			return nil
		}
		if err != nil {
			log.Printf("%v: again in a second", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	return nil
}

func isGone(err redis.Error, word string) bool { return strings.HasPrefix(err.Error(), word+" ") }

// page takes over what came next. more says that there was something.
func page(ctx context.Context, db *redis.Client, copied *sqlite.Conn) (more bool, err error) {
	token, err := sqlitex.ResultText(copied.Prep("SELECT coalesce(max(token), '') FROM place"))
	if err != nil {
		return false, err
	}
	if token == "" {
		return true, anew(ctx, db, copied)
	}
	ask := []any{"CHANGES", token, "MATCH", "order:*", "TYPE", "hash", "VALUES"}
	if !*once {
		ask = append(ask, "BLOCK", 0)
	}
	answer, err := db.Do(ctx, ask...).Slice()
	if err != nil {
		return false, err
	}
	defer sqlitex.Save(copied)(&err) // all of the page and its token, or nothing
	for _, commit := range answer[1].([]any) {
		for _, change := range commit.([]any)[1].([]any) {
			if err := apply(copied, change.([]any)); err != nil {
				return false, err
			}
		}
	}
	return answer[0] != token, stand(copied, answer[0])
}

// apply does to the copy what a change did to the order.
func apply(copied *sqlite.Conn, change []any) error {
	name, kind := change[1], change[3]
	if kind == "database" { // FLUSHDB; who uses SWAPDB reads the whole again
		return sqlitex.Execute(copied, "DELETE FROM orders", nil)
	}
	if len(change) < 5 || kind != "hash" {
		return forget(copied, name)
	}
	became := change[4].(map[any]any)
	if _, renamed := became["from"]; renamed {
		return fmt.Errorf("order %v was renamed: orders never are", name)
	}
	if whole, ok := became["value"].(map[any]any); ok {
		if err := forget(copied, name); err != nil {
			return err
		}
		return put(copied, name, whole)
	}
	for _, part := range []string{"added", "changed"} {
		fields, _ := became[part].(map[any]any)
		if err := put(copied, name, fields); err != nil {
			return err
		}
	}
	gone, _ := became["removed"].([]any)
	for _, field := range gone {
		err := sqlitex.Execute(copied, "DELETE FROM orders WHERE id = ? AND field = ?", &sqlitex.ExecOptions{Args: []any{name, field}})
		if err != nil {
			return err
		}
	}
	return nil
}

func put(copied *sqlite.Conn, name any, fields map[any]any) error {
	for field, value := range fields {
		err := sqlitex.Execute(copied, "INSERT OR REPLACE INTO orders VALUES (?, ?, ?)", &sqlitex.ExecOptions{Args: []any{name, field, value}})
		if err != nil {
			return err
		}
	}
	return nil
}

func forget(copied *sqlite.Conn, name any) error {
	return sqlitex.Execute(copied, "DELETE FROM orders WHERE id = ?", &sqlitex.ExecOptions{Args: []any{name}})
}

// anew makes the copy from a snapshot: all that is read is of one moment.
func anew(ctx context.Context, db *redis.Client, copied *sqlite.Conn) (err error) {
	now, err := db.Do(ctx, "CHANGES", "$").Slice()
	if err != nil {
		return err
	}
	token := now[0]
	names, err := db.Do(ctx, "AT", token, "KEYS", "order:*").Slice()
	if err != nil {
		return err
	}
	defer sqlitex.Save(copied)(&err)
	if err := sqlitex.Execute(copied, "DELETE FROM orders", nil); err != nil {
		return err
	}
	for _, name := range names {
		fields, err := db.Do(ctx, "AT", token, "HGETALL", name).Result()
		if err != nil {
			return err
		}
		if err := put(copied, name, fields.(map[any]any)); err != nil {
			return err
		}
	}
	return stand(copied, token)
}

// stand notes where the copy stands, in the transaction that brought it there.
func stand(copied *sqlite.Conn, token any) error {
	if err := sqlitex.Execute(copied, "DELETE FROM place", nil); err != nil {
		return err
	}
	return sqlitex.Execute(copied, "INSERT INTO place VALUES (?)", &sqlitex.ExecOptions{Args: []any{token}})
}
