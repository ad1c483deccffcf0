// A server of HTTP/1.1, HTTP/2 and HTTP/3 by Caddy, for the tests of the load side.
//
// It takes a folder with its certificate, its key and the files that it serves, and writes a line there for each
// request. It prints its address first, and ends with its standard input.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/caddyserver/caddy/v2"
	// The modules that the configuration names.
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver"
	_ "github.com/caddyserver/caddy/v2/modules/caddytls"
	_ "github.com/caddyserver/caddy/v2/modules/caddytls/standardstek"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	_ "github.com/caddyserver/caddy/v2/modules/logging"
)

const patience = 2 * time.Minute

type object map[string]any
type list []any

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Returns an address whose port is free for TCP and for UDP. Given port 0, Caddy would take two.
func free() string {
	for {
		tcp, err := net.Listen("tcp4", "127.0.0.1:0")
		must(err)
		address := tcp.Addr().String()
		udp, err := net.ListenPacket("udp4", address)
		must(tcp.Close())
		if err == nil {
			must(udp.Close())
			return address
		}
	}
}

func main() {
	in := func(name string) string { return filepath.Join(os.Args[1], name) }
	address := free()
	output := object{"output": "file", "filename": in("access.log"), "roll": false}
	config, err := json.Marshal(object{
		"admin":   object{"disabled": true, "config": object{"persist": false}},
		"storage": object{"module": "file_system", "root": in("storage")},
		"logging": object{"logs": object{
			"default": object{"level": "ERROR"},
			"access":  object{"writer": output, "include": list{"http.log.access"}},
		}},
		"apps": object{
			"tls": object{"certificates": object{
				"load_files": list{object{"certificate": in("server.pem"), "key": in("server.key")}},
			}},
			"http": object{"servers": object{"server": object{
				"listen":                  list{address},
				"automatic_https":         object{"disable": true},
				"tls_connection_policies": list{object{}},
				"logs":                    object{},
				"routes": list{
					object{
						"match":  list{object{"path": list{"/"}}},
						"handle": list{object{"handler": "static_response", "body": "hello"}},
					},
					object{"handle": list{object{"handler": "file_server", "root": in("files")}}},
				},
			}}},
		},
	})
	must(err)
	// The end of the input ends the program; this does if something hangs.
	time.AfterFunc(patience, func() { os.Exit(1) })
	must(caddy.Load(config, true))
	fmt.Println(address)
	_, _ = io.Copy(io.Discard, os.Stdin)
	must(caddy.Stop())
}
