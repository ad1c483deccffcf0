//! One call: its request and its response.

use super::call::{Call, CallEnd, GrpcEvent};
use super::link::Link;
use super::metadata::{self, of_response};
use super::status::{Fault, code, of_trailers};
use crate::sockets::outlet::Outlet;
use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{RecvStream, SendStream};
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;
use torr_grpc::{Arriving, NextMessage, framed};

/// The messages of a stream that are to be sent; the end of the request is `None`.
pub(super) type Messages = mpsc::UnboundedReceiver<Option<Vec<u8>>>;

/// A call on its way.
pub(super) struct Exchange<'c> {
    pub link: &'c Link,
    pub call: &'c Call,
    pub outlet: &'c Outlet,
    pub end: CallEnd,
}

impl Exchange<'_> {
    /// Makes the call, and notes how it ends.
    pub async fn run(&mut self, messages: &mut Messages, unsent: &AtomicUsize) {
        let mut outcome = self.once(messages, unsent).await;
        // A request of which the server has seen nothing is sent again, once, unless it is a stream of which parts are gone.
        if self.call.message.is_some() && outcome.as_ref().is_err_and(|fault| fault.is_unseen) {
            outcome = self.once(messages, unsent).await;
        }
        if let Err(fault) = outcome {
            self.fail(fault);
        }
    }

    /// Notes that the call has failed.
    pub fn fail(&mut self, fault: Fault) {
        let Fault { status, text, details, .. } = fault;
        self.end = CallEnd { status, text, details, ..std::mem::take(&mut self.end) };
    }

    async fn once(&mut self, messages: &mut Messages, unsent: &AtomicUsize) -> Result<(), Fault> {
        let call = self.call;
        let request = metadata::request(&self.link.opening, call)?;
        let mut sender = self.link.sender().await?;
        let (response, mut body) = sender.send_request(request, false).map_err(|error| Fault::of_h2(&error))?;
        match &call.message {
            Some(message) => {
                let sent = body.send_data(Bytes::from(framed(message)), true);
                sent.map_err(|error| Fault::of_h2(&error))?;
                self.receive(response).await
            }
            None => {
                self.outlet.hand_over(call.id, GrpcEvent::Begun).await;
                tokio::select! {
                    never = send(&mut body, messages, unsent) => never,
                    received = self.receive(response) => received,
                }
            }
        }
    }

    async fn receive(&mut self, response: ResponseFuture) -> Result<(), Fault> {
        let response = response.await.map_err(|error| Fault::of_h2(&error))?;
        let (head, body) = response.into_parts();
        let kind = head.headers.get("content-type").map(http::HeaderValue::as_bytes);
        let is_grpc = kind.is_some_and(|kind| kind.starts_with(b"application/grpc"));
        if head.status != http::StatusCode::OK || !is_grpc {
            let status = of_trailers(&head.headers).filter(|_| body.is_end_stream());
            return status.unwrap_or_else(|| Err(Fault::of_http(head.status, kind)));
        }
        if body.is_end_stream() {
            self.end.trailers = of_response(&head.headers);
            return self.status(Some(&head.headers));
        }
        self.end.headers = of_response(&head.headers);
        self.take(body).await
    }

    /// Takes the messages and what follows them.
    async fn take(&mut self, mut body: RecvStream) -> Result<(), Fault> {
        let mut arriving = Arriving::default();
        while let Some(piece) = body.data().await {
            let piece = piece.map_err(|error| Fault::of_h2(&error))?;
            arriving.add(&piece);
            let most = self.link.opening.most_received;
            loop {
                match arriving.next(most).map_err(|error| Fault::internal(error.to_string()))? {
                    NextMessage::Incomplete => break,
                    NextMessage::Whole(message) => self.arrived(message).await?,
                    NextMessage::TooLarge(length) => {
                        let text = format!("grpc: received message larger than max ({length} vs. {most})");
                        return Err(Fault::new(code::RESOURCE_EXHAUSTED, text));
                    }
                }
            }
            // Messages that wait for the script hold up the server, too.
            let _ = body.flow_control().release_capacity(piece.len());
        }
        let trailers = body.trailers().await.map_err(|error| Fault::of_h2(&error))?;
        self.end.trailers = trailers.as_ref().map(of_response).unwrap_or_default();
        if !arriving.is_empty() {
            return Err(Fault::internal("unexpected EOF"));
        }
        self.status(trailers.as_ref())
    }

    async fn arrived(&mut self, message: Vec<u8>) -> Result<(), Fault> {
        if self.call.message.is_none() {
            self.outlet.hand_over(self.call.id, GrpcEvent::Message(message)).await;
            return Ok(());
        }
        if self.end.message.replace(message).is_some() {
            let text = "expected <EOF> for non server-streaming RPCs, but received another message";
            return Err(Fault::internal(format!("cardinality violation: {text}")));
        }
        Ok(())
    }

    fn status(&self, trailers: Option<&http::HeaderMap>) -> Result<(), Fault> {
        let none = || Err(Fault::internal("server closed the stream without sending trailers"));
        trailers.and_then(of_trailers).unwrap_or_else(none)?;
        if self.call.message.is_some() && self.end.message.is_none() {
            let text = "received no response message from non-server-streaming RPC";
            return Err(Fault::internal(format!("cardinality violation: {text}")));
        }
        Ok(())
    }
}

/// Sends the messages of a stream. It never returns: how a call ends is known by its response.
async fn send(body: &mut SendStream<Bytes>, messages: &mut Messages, unsent: &AtomicUsize) -> Result<(), Fault> {
    while let Some(message) = messages.recv().await {
        let Some(message) = message else {
            let _ = body.send_data(Bytes::new(), true);
            break;
        };
        let is_sent = piece_by_piece(body, Bytes::from(framed(&message))).await;
        unsent.fetch_sub(message.len(), Ordering::AcqRel);
        if !is_sent {
            break;
        }
    }
    pending().await
}

/// Sends bytes as the server takes them. Returns whether it has taken all.
async fn piece_by_piece(body: &mut SendStream<Bytes>, mut bytes: Bytes) -> bool {
    while !bytes.is_empty() {
        body.reserve_capacity(bytes.len());
        let room = match body.capacity() {
            // Only a change is waited for.
            0 => match poll_fn(|context| body.poll_capacity(context)).await {
                Some(Ok(room)) => room,
                _ => return false,
            },
            room => room,
        };
        let piece = bytes.split_to(room.min(bytes.len()));
        if body.send_data(piece, false).is_err() {
            return false;
        }
    }
    true
}
