// A client of HTTP/3 by quic-go, for the tests of the server's side.
//
// It takes the file of a certificate and the URL of a server, and prints a word for each part that went well. Any other outcome ends it
// with a message.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"

	"github.com/quic-go/quic-go/http3"
)

const large = 10_000_000

func must(is bool, what string, values ...any) {
	if !is {
		fmt.Fprintf(os.Stderr, what+"\n", values...)
		os.Exit(1)
	}
}

func read(response *http.Response, err error) []byte {
	must(err == nil, "%v", err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	must(err == nil, "%v", err)
	must(response.StatusCode == 200 && response.ProtoMajor == 3, "%s over %s", response.Status, response.Proto)
	return content
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	must(err == nil, "%v", err)
	roots := x509.NewCertPool()
	must(roots.AppendCertsFromPEM(text), "no certificate")
	transport := &http3.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.Close()
	client, url := &http.Client{Transport: transport}, os.Args[2]

	content := read(client.Get(url + "/"))
	must(string(content) == "<p>Hello, world!</p>", "%q", content)
	fmt.Println("get")

	content = read(client.Get(fmt.Sprintf("%s/bytes/%d", url, large)))
	must(len(content) == large, "%d bytes", len(content))
	fmt.Println("large")

	sent := bytes.Repeat([]byte("0123456789"), large/10)
	content = read(client.Post(url+"/echo", "text/plain", bytes.NewReader(sent)))
	must(bytes.Equal(content, sent), "%d bytes", len(content))
	fmt.Println("post")

	var all sync.WaitGroup
	for n := 0; n < 1000; n++ {
		all.Go(func() {
			content := read(client.Get(url + "/"))
			must(string(content) == "<p>Hello, world!</p>", "%q", content)
		})
	}
	all.Wait()
	fmt.Println("streams")
}
