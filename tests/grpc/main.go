// A server of gRPC by grpc-go: the standard's health service, reflection, gzip, and the service of calls.go. It listens
// where its argument says, or on a free port, and prints its address.
package main

import (
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

func main() {
	address := "127.0.0.1:0"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	if err := registerCalls(server); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	reflection.Register(server)
	fmt.Println(listener.Addr())
	if err := server.Serve(listener); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
