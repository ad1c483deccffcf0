package main

import (
	"context"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The service of crates/torr-k6/oracle/calls.proto, as far as the server needs it: what is not known here returns as it came.
const described = `
name: "calls.proto" package: "torr.test" syntax: "proto3"
message_type: {
  name: "Order"
  field: { name: "text" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
  field: { name: "status" number: 2 label: LABEL_OPTIONAL type: TYPE_INT32 }
  field: { name: "why" number: 3 label: LABEL_OPTIONAL type: TYPE_STRING }
  field: { name: "count" number: 4 label: LABEL_OPTIONAL type: TYPE_INT32 }
  field: { name: "sleep_ms" number: 5 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "sleepMs" }
  field: { name: "size" number: 6 label: LABEL_OPTIONAL type: TYPE_INT32 }
  field: { name: "details" number: 7 label: LABEL_OPTIONAL type: TYPE_BOOL }
}
service: {
  name: "Calls"
  method: { name: "Unary" input_type: ".torr.test.Order" output_type: ".torr.test.Order" }
  method: { name: "Down" input_type: ".torr.test.Order" output_type: ".torr.test.Order" server_streaming: true }
  method: { name: "Up" input_type: ".torr.test.Order" output_type: ".torr.test.Order" client_streaming: true }
  method: {
    name: "Both" input_type: ".torr.test.Order" output_type: ".torr.test.Order"
    client_streaming: true server_streaming: true
  }
}`

// An order of a client, whose fields say what the server does.
type order struct{ *dynamicpb.Message }

func (o order) field(name protoreflect.Name) protoreflect.Value {
	return o.Get(o.Descriptor().Fields().ByName(name))
}

func (o order) number(name protoreflect.Name) int {
	return int(o.field(name).Int())
}

// Waits as long as the order says, and returns the error that it says.
func (o order) obey(ctx context.Context) error {
	if pause := o.number("sleep_ms"); pause > 0 {
		select {
		case <-time.After(time.Duration(pause) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	code := o.number("status")
	if code == 0 {
		return nil
	}
	failed := status.New(codes.Code(code), o.field("why").String())
	if o.field("details").Bool() {
		if detailed, err := failed.WithDetails(wrapperspb.String("a detail")); err == nil {
			failed = detailed
		}
	}
	return failed.Err()
}

// Returns the order with the text and the size that it says.
func (o order) filled() order {
	if size := o.number("size"); size > 0 {
		o.Set(o.Descriptor().Fields().ByName("text"), protoreflect.ValueOfString(strings.Repeat("x", size)))
	}
	return o
}

// The metadata of a call whose names begin with "x-", which the server sends back as headers and trailers.
func echoed(ctx context.Context) metadata.MD {
	back := metadata.MD{}
	sent, _ := metadata.FromIncomingContext(ctx)
	for name, values := range sent {
		if strings.HasPrefix(name, "x-") || name == ":authority" {
			back[strings.TrimPrefix(name, ":")] = values
		}
	}
	return back
}

type calls struct {
	message protoreflect.MessageDescriptor
}

func (c calls) empty() order { return order{dynamicpb.NewMessage(c.message)} }

func (c calls) unary(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	received := c.empty()
	if err := decode(received.Message); err != nil {
		return nil, err
	}
	_ = grpc.SetHeader(ctx, echoed(ctx))
	_ = grpc.SetTrailer(ctx, metadata.Pairs("x-trailer", "end"))
	if err := received.obey(ctx); err != nil {
		return nil, err
	}
	return received.filled().Message, nil
}

func (c calls) down(_ any, stream grpc.ServerStream) error {
	received := c.empty()
	if err := stream.RecvMsg(received.Message); err != nil {
		return err
	}
	for number := received.number("count"); number > 0; number-- {
		if err := stream.SendMsg(received.filled().Message); err != nil {
			return err
		}
	}
	return received.obey(stream.Context())
}

func (c calls) up(_ any, stream grpc.ServerStream) error {
	count, texts := 0, []string{}
	for {
		received := c.empty()
		switch err := stream.RecvMsg(received.Message); err {
		case nil:
			if err := received.obey(stream.Context()); err != nil {
				return err
			}
			count, texts = count+1, append(texts, received.field("text").String())
		case io.EOF:
			sum := c.empty()
			sum.Set(c.message.Fields().ByName("count"), protoreflect.ValueOfInt32(int32(count)))
			sum.Set(c.message.Fields().ByName("text"), protoreflect.ValueOfString(strings.Join(texts, " ")))
			return stream.SendMsg(sum.Message)
		default:
			return err
		}
	}
}

func (c calls) both(_ any, stream grpc.ServerStream) error {
	for {
		received := c.empty()
		switch err := stream.RecvMsg(received.Message); err {
		case nil:
			if err := received.obey(stream.Context()); err != nil {
				return err
			}
			if err := stream.SendMsg(received.filled().Message); err != nil {
				return err
			}
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// Registers the service, for calls and for reflection.
func registerCalls(server *grpc.Server) error {
	var text descriptorpb.FileDescriptorProto
	if err := prototext.Unmarshal([]byte(described), &text); err != nil {
		return err
	}
	file, err := protodesc.NewFile(proto.Clone(&text).(*descriptorpb.FileDescriptorProto), protoregistry.GlobalFiles)
	if err != nil {
		return err
	}
	if err := protoregistry.GlobalFiles.RegisterFile(file); err != nil {
		return err
	}
	c := calls{file.Messages().ByName("Order")}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "torr.test.Calls",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Unary", Handler: c.unary}},
		Streams: []grpc.StreamDesc{
			{StreamName: "Down", Handler: c.down, ServerStreams: true},
			{StreamName: "Up", Handler: c.up, ClientStreams: true},
			{StreamName: "Both", Handler: c.both, ServerStreams: true, ClientStreams: true},
		},
		Metadata: "calls.proto",
	}, c)
	return nil
}
