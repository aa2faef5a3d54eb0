package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/server"
)

// A program that embeds the server gives its clients functions of its own,
// which FCALL calls as it calls those in Lua.
func Example_functionsInGo() {
	dir, err := os.MkdirTemp("", "firn")
	check(err)
	defer os.RemoveAll(dir)
	store, err := firn.Open(filepath.Join(dir, "example.db"), firn.Options{Tables: keyspace.Tables()})
	check(err)
	defer store.Close()

	srv := redis.New(store, redis.Options{})
	check(srv.RegisterFunction("reserve", 0, func(in *scripting.Invocation) error {
		left, err := in.Do("DECRBY", string(in.Keys[0]), string(in.Args[0]))
		if err != nil {
			return err // what the client is told; nothing was written
		}
		in.Reply.Raw(string(left)) // it is RESP already
		return nil
	}))
	check(srv.RegisterFunction("left", scripting.NoWrites, func(in *scripting.Invocation) error {
		key, ok, err := in.Find(in.Keys[0]) // at whatever moment the client asks for
		if err != nil || !ok {
			in.Reply.Int(0)
			return err
		}
		in.Reply.Bulk(key.Value)
		return nil
	}))

	sockets, err := server.Listen(srv, server.Options{Listen: []string{"127.0.0.1:0"}})
	check(err)
	ended := make(chan error)
	ctx, end := context.WithCancel(context.Background())
	go func() { ended <- sockets.Run(ctx) }()

	client, err := net.Dial("tcp", sockets.Addrs()[0].String())
	check(err)
	replies := bufio.NewScanner(client)
	for _, command := range []string{"SET tickets 100", "FCALL reserve 1 tickets 3", "FCALL_RO left 1 tickets", "FCALL_RO reserve 1 tickets 3"} {
		_, err := fmt.Fprintf(client, "%s\r\n", command)
		check(err)
		replies.Scan()
		line := replies.Text()
		if line[0] == '$' { // the length of what follows
			replies.Scan()
			line = replies.Text()
		}
		fmt.Println(line)
	}
	check(client.Close())
	end()
	check(<-ended)
	// Output:
	// +OK
	// :97
	// 97
	// -ERR Can not execute a script with write flag using *_ro command.
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
