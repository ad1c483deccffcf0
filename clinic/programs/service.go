// An HTTP server of Go: service HOST PORT KIND NUMBER
// KIND is what a request does: compute, compute-locked (one at a time), or pool (wait for one of NUMBER permits, then sleep).
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

var sink uint64

// About 1 ms.
func compute() {
	state := uint64(1)
	for round := 0; round < 1_000_000; round++ {
		state = state*6364136223846793005 + uint64(round)
	}
	if state == 0 {
		sink = state
	}
}

func main() {
	number, err := strconv.Atoi(os.Args[4])
	if err != nil {
		panic(err)
	}
	var lock sync.Mutex
	permits := make(chan struct{}, number)
	work := map[string]func(){
		"compute": compute,
		"compute-locked": func() {
			lock.Lock()
			defer lock.Unlock()
			compute()
		},
		"pool": func() {
			permits <- struct{}{}
			defer func() { <-permits }()
			time.Sleep(15 * time.Millisecond)
		},
	}[os.Args[3]]
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		work()
		response.Header().Set("Content-Type", "text/html")
		fmt.Fprint(response, "<p>Hello, world!</p>")
	})
	panic(http.ListenAndServe(os.Args[1]+":"+os.Args[2], nil))
}
