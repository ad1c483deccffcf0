// The paths of `torr serve` without a database, on Go's net/http: `server ADDRESS`.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
)

func main() {
	handle("/{$}", "text/html; charset=utf-8", func() []byte { return []byte("<p>Hello, world!</p>") })
	handle("/plaintext", "text/plain", func() []byte { return []byte("Hello, World!") })
	handle("/json", "application/json", func() []byte {
		body, err := json.Marshal(map[string]string{"message": "Hello, World!"})
		if err != nil {
			log.Fatal(err)
		}
		return body
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}

func handle(path, kind string, body func() []byte) {
	http.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server", "go")
		w.Header().Set("Content-Type", kind)
		w.Write(body())
	})
}
