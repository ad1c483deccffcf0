// A server of HTTP/3 by quic-go, for the tests of the load side.
//
// It responds to each path as its name says, counts what it is sent, and prints its address first. It ends with its standard input.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// What requests were like, by their bytes.
type seen struct {
	sync.Mutex
	requests map[string]int
}

func (s *seen) note(r *http.Request, length int64, sum string) {
	names := make([]string, 0, len(r.Header))
	for name, values := range r.Header {
		names = append(names, strings.ToLower(name)+": "+strings.Join(values, ", "))
	}
	sort.Strings(names)
	key := fmt.Sprintf("%s %s %s %s | %s | %d %s", r.Proto, r.Method, r.Host, r.RequestURI, strings.Join(names, " | "), length, sum)
	s.Lock()
	s.requests[key]++
	s.Unlock()
}

func certificate(folder string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(folder+"/server.pem", text, 0o600); err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func main() {
	all := &seen{requests: map[string]int{}}
	handler := http.NewServeMux()
	handler.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		digest := sha256.New()
		length, err := io.Copy(digest, r.Body)
		if err != nil {
			return
		}
		all.note(r, length, hex.EncodeToString(digest.Sum(nil))[:16])
		switch {
		case strings.HasPrefix(r.URL.Path, "/bytes/"):
			count, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/bytes/"))
			w.Header().Set("Content-Length", strconv.Itoa(count))
			_, _ = w.Write(make([]byte, count))
		case strings.HasPrefix(r.URL.Path, "/status/"):
			code, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/status/"))
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "as you like")
		case r.URL.Path == "/chunks":
			for n := 0; n < 5; n++ {
				_, _ = io.WriteString(w, strings.Repeat("x", 1000))
				w.(http.Flusher).Flush()
			}
		case r.URL.Path == "/reset":
			panic(http.ErrAbortHandler)
		case r.URL.Path == "/never":
			<-r.Context().Done()
		default:
			_, _ = io.WriteString(w, "hello")
		}
	})
	own, err := certificate(os.Args[1])
	if err != nil {
		panic(err)
	}
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := &http3.Server{
		Handler:    handler,
		TLSConfig:  http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{own}}),
		QUICConfig: &quic.Config{MaxIncomingStreams: 100},
	}
	go func() {
		if err := server.Serve(socket); err != nil && err != http.ErrServerClosed {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	fmt.Println(socket.LocalAddr())
	// With each line of its input it prints what it has seen; the end of the input ends it.
	input := make([]byte, 1)
	for {
		if n, err := os.Stdin.Read(input); n == 0 || err != nil {
			break
		}
		if input[0] == 's' {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			_ = server.Shutdown(ctx)
			cancel()
		}
		all.Lock()
		text, _ := json.Marshal(all.requests)
		all.Unlock()
		fmt.Println(string(text))
	}
}
