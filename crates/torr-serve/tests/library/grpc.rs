//! gRPC by tonic's router and tonic's own client, under `axum::serve` and here.

mod service;

use crate::support::axum_serve::AxumServe;
use crate::support::{PATIENCE, Running};
use axum::Router;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http::uri::PathAndQuery;
use service::{Echo, Raw};
use std::net::SocketAddr;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;
use tonic::client::Grpc;
use tonic::codec::CompressionEncoding;
use tonic::service::Routes;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request};

/// A client of one connection.
struct Client {
    grpc: Grpc<Channel>,
}

impl Client {
    fn new(address: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address is valid");
        Self { grpc: Grpc::new(endpoint.connect_lazy()) }
    }

    /// A client that compresses what it sends.
    fn with_gzip(address: SocketAddr) -> Self {
        let gzip = CompressionEncoding::Gzip;
        Self { grpc: Self::new(address).grpc.send_compressed(gzip).accept_compressed(gzip) }
    }

    async fn ready(&mut self) -> &mut Grpc<Channel> {
        self.grpc.ready().await.expect("the server takes connections");
        &mut self.grpc
    }

    async fn unary(&mut self, message: Bytes) -> Result<tonic::Response<Bytes>, tonic::Status> {
        self.ready().await.unary(Request::new(message), path("Unary"), Raw).await
    }
}

fn path(method: &str) -> PathAndQuery {
    PathAndQuery::try_from(format!("/test.Echo/{method}")).expect("a path is valid")
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("it starts")
}

/// Plays a scene with each server, in time. The scene gets what the service reports.
fn with_each(scene: impl AsyncFn(SocketAddr, &mut UnboundedReceiver<String>)) {
    let router = |tell| -> Router { Routes::new(Echo(tell)).prepare().into_axum_router() };
    let play = |name: &str, address, reports: &mut UnboundedReceiver<String>| {
        runtime().block_on(async {
            assert!(timeout(PATIENCE, scene(address, reports)).await.is_ok(), "{name}: the scene does not end")
        });
    };
    let (tell, mut reports) = unbounded_channel();
    let axum = AxumServe::start(router(tell));
    play("axum", axum.address, &mut reports);
    let (tell, mut reports) = unbounded_channel();
    let ours = Running::start(torr_serve::App::new().router(router(tell)));
    play("torr", ours.address, &mut reports);
}

#[test]
fn unary_calls_have_metadata_and_errors_details() {
    with_each(async |address, _| {
        let mut client = Client::new(address);
        let response = client.unary(Bytes::from_static(b"hello")).await.expect("it succeeds");
        assert_eq!(response.metadata().get("x-echo").map(|value| value.as_bytes()), Some(&b"yes"[..]));
        assert_eq!(response.into_inner(), "hello");
        let status = client.unary(Bytes::from_static(b"fail")).await.expect_err("it fails");
        assert_eq!((status.code(), status.message()), (Code::FailedPrecondition, "it fails: 50 %"));
        assert_eq!(status.details(), b"\0details");
        assert_eq!(status.metadata().get("x-hint").map(|value| value.as_bytes()), Some(&b"again"[..]));
        let unknown = client.ready().await.unary(Request::new(Bytes::new()), path("Unknown"), Raw).await;
        let unknown: Result<tonic::Response<Bytes>, _> = unknown;
        assert_eq!(unknown.expect_err("there is no such method").code(), Code::Unimplemented);
    });
}

#[test]
fn streams_go_each_way() {
    with_each(async |address, _| {
        let mut client = Client::new(address);
        let request = Request::new(Bytes::from_static(b"1000"));
        let response = client.ready().await.server_streaming(request, path("Countdown"), Raw).await;
        let mut messages = response.expect("it begins").into_inner();
        for number in 0..1000 {
            assert_eq!(messages.message().await.expect("a message"), Some(Bytes::from(number.to_string())));
        }
        // The error stands in the trailers.
        let end = messages.message().await.expect_err("it ends with an error");
        assert_eq!((end.code(), end.message()), (Code::OutOfRange, "no more"));

        let request = stream::iter((0..100).map(|_| Bytes::from(vec![b'x'; 10_000])));
        let response = client.ready().await.client_streaming(Request::new(request), path("Sum"), Raw).await;
        let sum: Bytes = response.expect("it succeeds").into_inner();
        assert_eq!(sum, "1000000");

        // Each message is sent once the one before has come back.
        let (send, receive) = unbounded_channel();
        let request = stream::unfold(receive, async |mut receive| Some((receive.recv().await?, receive)));
        send.send(Bytes::from_static(b"0")).expect("the call takes it");
        let response = client.ready().await.streaming(Request::new(request), path("Chat"), Raw).await;
        let mut messages = response.expect("it begins").into_inner();
        for number in 0..50 {
            assert_eq!(messages.message().await.expect("a message"), Some(Bytes::from(number.to_string())));
            send.send(Bytes::from((number + 1).to_string())).expect("the call takes it");
        }
        drop(send);
        assert_eq!(messages.message().await.expect("the last message"), Some(Bytes::from_static(b"50")));
        assert_eq!(messages.message().await.expect("a good end"), None);
    });
}

#[test]
fn messages_are_compressed() {
    with_each(async |address, _| {
        let mut client = Client::with_gzip(address);
        let message = Bytes::from("press ".repeat(50_000));
        let response = client.unary(message.clone()).await.expect("it succeeds");
        assert_eq!(response.metadata().get("grpc-encoding").map(|value| value.as_bytes()), Some(&b"gzip"[..]));
        assert!(response.into_inner() == message);
    });
}

#[test]
fn a_call_that_the_client_drops_ends_on_the_server() {
    with_each(async |address, reports| {
        let mut client = Client::new(address);
        let response = client.ready().await.server_streaming(Request::new(Bytes::new()), path("Forever"), Raw).await;
        let mut messages: tonic::Streaming<Bytes> = response.expect("it begins").into_inner();
        assert_eq!(messages.message().await.expect("a message"), Some(Bytes::from_static(b"0")));
        drop(messages);
        assert_eq!(reports.recv().await.as_deref(), Some("dropped"));
        assert_eq!(client.unary(Bytes::from_static(b"on")).await.expect("the connection goes on").into_inner(), "on");
    });
}

#[test]
fn a_handler_learns_that_the_client_has_reset_its_call() {
    with_each(async |address, reports| {
        let mut client = Client::new(address);
        let request = stream::iter([Bytes::from_static(b"0")]).chain(stream::pending());
        let call = client.ready().await.client_streaming(Request::new(request), path("Sum"), Raw);
        tokio::select! {
            response = call => panic!("an endless call ended: {:?}", response.map(|response: tonic::Response<Bytes>| response)),
            began = reports.recv() => assert_eq!(began.as_deref(), Some("began")),
        }
        // The call is dropped. tonic reads from the sources of the body's error that the client has cancelled, which is no error
        // for a handler; without the sources it is one of an unknown kind.
        assert_eq!(reports.recv().await.as_deref(), Some("ended"));
    });
}

#[test]
fn five_hundred_calls_at_a_time_have_their_own_responses() {
    with_each(async |address, _| {
        let mut client = Client::new(address);
        client.ready().await;
        let calls = (0..500).map(|number| {
            let mut client = Client { grpc: client.grpc.clone() };
            async move {
                let message = Bytes::from(format!("call {number} {}", "x".repeat(number * 20)));
                let response = client.unary(message.clone()).await.expect("it succeeds");
                assert!(response.into_inner() == message, "call {number}");
            }
        });
        futures_util::future::join_all(calls).await;
    });
}
