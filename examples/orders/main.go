// Orders is a job that reacts to orders: it ships each that is paid. It misses
// none, whether it or the server was away, because it goes on from a token.
//
//	firn serve &
//	go run ./orders &
//	redis-cli HSET order:17 status paid
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
)

var (
	address = flag.String("address", "127.0.0.1:6379", "`host:port` of the server")
	place   = flag.String("place", "orders.token", "`file` that keeps where the job stands")
	most    = flag.Int("most", 0, "end after so many orders; 0: never")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := work(ctx); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// work ships orders until ctx ends, or -most are shipped.
func work(ctx context.Context) error {
	// A blocked read has no time limit: the server answers every 10 seconds.
	db := redis.NewClient(&redis.Options{Addr: *address, ReadTimeout: time.Minute, MaxRetries: -1})
	defer db.Close()
	token, err := begin(ctx, db)
	if err != nil {
		return err
	}
	for shipped := 0; *most == 0 || shipped < *most; {
		page, err := db.Do(ctx, "CHANGES", token, "BLOCK", 0, "MATCH", "order:*", "TYPE", "hash", "VALUES").Slice()
		var refused redis.Error
		switch {
		case errors.As(err, &refused): // COMPACTED, FORKED: the place is gone, and a person has to decide
			return err
		case err != nil:
			log.Printf("%v: again in a second", err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Second):
			}
			continue
		}
		for _, commit := range page[1].([]any) {
			for _, change := range commit.([]any)[1].([]any) {
				if key, ok := paid(change.([]any)); ok {
					fmt.Println("ship", strings.TrimPrefix(key, "order:"))
					shipped++
				}
			}
		}
		// What was done before this line and not written down is done twice after
		// a crash: at least once. See mirror for exactly once.
		token = page[0].(string)
		if err := os.WriteFile(*place, []byte(token), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// begin is the token that the job stands at: that of its last page, or now.
func begin(ctx context.Context, db *redis.Client) (string, error) {
	kept, err := os.ReadFile(*place)
	if err == nil {
		return string(kept), nil
	}
	page, err := db.Do(ctx, "CHANGES", "$").Slice()
	if err != nil {
		return "", err
	}
	token := page[0].(string)
	return token, os.WriteFile(*place, []byte(token), 0o600)
}

// paid says whether the status of an order has become "paid".
func paid(change []any) (key string, ok bool) {
	if len(change) < 5 || change[3] != "hash" {
		return "", false // FLUSHDB, or the order is gone
	}
	key, became := change[1].(string), change[4].(map[any]any)
	for _, part := range []string{"value", "added", "changed"} {
		if fields, _ := became[part].(map[any]any); fields["status"] == "paid" {
			return key, true
		}
	}
	return key, false
}
