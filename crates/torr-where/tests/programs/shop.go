// Goroutines that compute a receipt under a mutex, others that pause under a second one, and idle workers on a channel.
package main

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

type ledger struct {
	mu    sync.Mutex
	total uint64
}

var cacheLock sync.Mutex
var jobs = make(chan int)
var sink uint64

//go:noinline
func computeReceipt(total uint64) uint64 {
	for round := uint64(0); round < 400000; round++ {
		total = (total<<5 | total>>59) ^ round
		total *= 0x9e3779b97f4a7c15
	}
	return total
}

// step is inlined into total.
func step(total, round uint64) uint64 {
	total = (total ^ round) * 0x9e3779b97f4a7c15
	total = (total ^ total>>31) * 0xbf58476d1ce4e5b9
	total = (total ^ total>>29) * 0x94d049bb133111eb
	total = (total ^ total>>27) * 0x9e3779b97f4a7c15
	return total ^ total>>30
}

//go:noinline
func total(seed uint64) uint64 {
	for round := uint64(0); round < 400000; round++ {
		seed = step(seed, round)
	}
	return seed
}

//go:noinline
func (l *ledger) checkout() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total = computeReceipt(l.total)
}

//go:noinline
func refreshCache() {
	time.Sleep(3 * time.Millisecond)
}

//go:noinline
func servePage() {
	cacheLock.Lock()
	refreshCache()
	cacheLock.Unlock()
}

//go:noinline
func worker() {
	for job := range jobs {
		sink += uint64(job)
	}
}

//go:noinline
func render(seed uint64) uint64 {
	return computeReceipt(seed)
}

func main() {
	for i := 0; i < 5; i++ {
		go worker()
	}
	go http.ListenAndServe("127.0.0.1:0", nil)
	mode := "cpu"
	if len(argument()) > 0 {
		mode = argument()
	}
	switch mode {
	case "receipt":
		l := &ledger{}
		for i := 0; i < 8; i++ {
			go func() {
				for {
					l.checkout()
				}
			}()
		}
	case "cache":
		for i := 0; i < 8; i++ {
			go func() {
				for {
					servePage()
				}
			}()
		}
	case "inlined":
		go func() {
			for {
				sink += total(sink)
			}
		}()
	case "cpu":
		go func() {
			for {
				sink += render(sink)
			}
		}()
	}
	fmt.Println("ready")
	select {}
}

func argument() string {
	if len(os.Args) < 2 {
		return ""
	}
	return os.Args[1]
}
