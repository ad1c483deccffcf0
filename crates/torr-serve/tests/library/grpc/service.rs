//! A service of gRPC by tonic, of messages of bytes.

use bytes::{Buf, BufMut, Bytes};
use futures_util::stream::{self, BoxStream, StreamExt};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::UnboundedSender;
use tonic::body::Body;
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::MetadataValue;
use tonic::server::{Grpc, NamedService};
use tonic::{Code, Request, Response, Status, Streaming};
use tower::service_fn;
use tower_service::Service;

/// A codec that passes bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// The service, which reports what it sees of calls that end early.
#[derive(Clone)]
pub struct Echo(pub UnboundedSender<String>);

impl NamedService for Echo {
    const NAME: &'static str = "test.Echo";
}

type Messages = BoxStream<'static, Result<Bytes, Status>>;

/// Reports when it is dropped.
struct Dropped(UnboundedSender<String>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send("dropped".to_owned());
    }
}

/// The request's message with metadata; a message that begins with "fail" is an error with details.
async fn unary(request: Request<Bytes>) -> Result<Response<Bytes>, Status> {
    let message = request.into_inner();
    if message.starts_with(b"fail") {
        let mut status =
            Status::with_details(Code::FailedPrecondition, "it fails: 50 %", Bytes::from_static(b"\0details"));
        status.metadata_mut().insert("x-hint", MetadataValue::from_static("again"));
        return Err(status);
    }
    let mut response = Response::new(message);
    response.metadata_mut().insert("x-echo", MetadataValue::from_static("yes"));
    Ok(response)
}

/// As many messages as the request says, and an error as the trailers behind them.
async fn countdown(request: Request<Bytes>) -> Result<Response<Messages>, Status> {
    let number: u32 = std::str::from_utf8(request.get_ref()).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let messages = stream::iter(0..number).map(|number| Ok(Bytes::from(number.to_string())));
    let end = stream::iter([Err(Status::out_of_range("no more"))]);
    Ok(Response::new(messages.chain(end).boxed()))
}

/// Messages without an end.
async fn forever(dropped: Dropped) -> Result<Response<Messages>, Status> {
    let messages = stream::unfold((0, dropped), async |(number, dropped)| {
        tokio::task::yield_now().await;
        Some((Ok(Bytes::from(format!("{number}"))), (number + 1, dropped)))
    });
    Ok(Response::new(messages.boxed()))
}

/// The messages of the request as they come.
async fn chat(request: Request<Streaming<Bytes>>) -> Result<Response<Messages>, Status> {
    Ok(Response::new(request.into_inner().boxed()))
}

/// The number of bytes of all messages. They are read by a task, which goes on without the call and reports its beginning and its end:
/// the code of an error, or a good end.
async fn sum(request: Request<Streaming<Bytes>>, tell: UnboundedSender<String>) -> Result<Response<Bytes>, Status> {
    let mut messages = request.into_inner();
    let read = async move {
        let mut sum = 0;
        let outcome = loop {
            match messages.message().await {
                Ok(Some(message)) if sum == 0 => {
                    let _ = tell.send("began".to_owned());
                    sum += message.len();
                }
                Ok(Some(message)) => sum += message.len(),
                Ok(None) => break Ok(sum),
                Err(status) => break Err(status),
            }
        };
        let _ =
            tell.send(outcome.as_ref().map_or_else(|status| format!("{:?}", status.code()), |_| "ended".to_owned()));
        outcome
    };
    let sum: Result<usize, Status> = tokio::spawn(read).await.map_err(|error| Status::internal(error.to_string()))?;
    Ok(Response::new(Bytes::from(sum?.to_string())))
}

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let tell = self.0.clone();
        Box::pin(async move {
            let path = request.uri().path().to_owned();
            let gzip = CompressionEncoding::Gzip;
            let mut grpc = Grpc::new(Raw).accept_compressed(gzip).send_compressed(gzip);
            Ok(match path.rsplit('/').next().unwrap_or_default() {
                "Unary" => grpc.unary(service_fn(unary), request).await,
                "Countdown" => grpc.server_streaming(service_fn(countdown), request).await,
                "Forever" => {
                    let service = service_fn(|_: Request<Bytes>| forever(Dropped(tell.clone())));
                    grpc.server_streaming(service, request).await
                }
                "Chat" => grpc.streaming(service_fn(chat), request).await,
                "Sum" => {
                    let service = service_fn(|request: Request<Streaming<Bytes>>| sum(request, tell.clone()));
                    grpc.client_streaming(service, request).await
                }
                _ => Status::unimplemented(path).into_http(),
            })
        })
    }
}
