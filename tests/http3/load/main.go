// A load of HTTP/3 by quic-go, beside which Torr's own is measured.
//
// It takes the file of a certificate, a URL, and the numbers of connections, of requests in flight on each, and of seconds, and prints
// the number of responses of status 200.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go/http3"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	fail(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	var numbers [3]int
	for n := range numbers {
		numbers[n], err = strconv.Atoi(os.Args[3+n])
		fail(err)
	}
	end := time.Now().Add(time.Duration(numbers[2]) * time.Second)
	var count atomic.Int64
	var all sync.WaitGroup
	for range numbers[0] {
		transport := &http3.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
		client := &http.Client{Transport: transport}
		for range numbers[1] {
			all.Go(func() {
				for time.Now().Before(end) {
					response, err := client.Get(os.Args[2])
					fail(err)
					_, err = io.Copy(io.Discard, response.Body)
					fail(err)
					response.Body.Close()
					if response.StatusCode == 200 {
						count.Add(1)
					}
				}
			})
		}
	}
	all.Wait()
	fmt.Println(count.Load())
}
