//! The connection of HTTP/2 behind one of a script: it is opened again for a call if it was lost.

use super::call::Opening;
use super::duplex::Duplex;
use super::status::{Fault, code};
use crate::sockets::handle::Counts;
use crate::sockets::known::Known;
use crate::sockets::wire::Wire;
use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use h2::{Ping, PingPong};
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::spawn_local;

/// The number of bytes of one response, and of all of a connection, that servers may send before they are taken.
const WINDOW: u32 = 1 << 20;
const WINDOW_OF_ALL: u32 = 4 << 20;
/// The size in bytes of the header section of a response, decompressed.
const LARGEST_HEAD: u32 = 64 * 1024;

/// The connection of HTTP/2 behind one of a script.
pub(super) struct Link {
    pub opening: Opening,
    known: Rc<Known>,
    counts: Arc<Counts>,
    current: Mutex<Option<SendRequest<Bytes>>>,
}

impl Link {
    pub fn new(opening: Opening, known: Rc<Known>, counts: Arc<Counts>) -> Self {
        Self { opening, known, counts, current: Mutex::default() }
    }

    /// Returns what sends requests. A connection that was lost is opened again.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn sender(&self) -> Result<SendRequest<Bytes>, Fault> {
        let mut current = self.current.lock().await;
        if let Some(sender) = current.take()
            && let Ok(sender) = sender.ready().await
        {
            *current = Some(sender.clone());
            return Ok(sender);
        }
        let opened = self.open().await;
        let sender =
            opened.map_err(|why| Fault::new(code::UNAVAILABLE, format!("connection error: desc = \"{why}\"")))?;
        *current = Some(sender.clone());
        Ok(sender)
    }

    /// Opens the connection, up to the first frame of the server.
    async fn open(&self) -> Result<SendRequest<Bytes>, String> {
        let dialing = |why| format!("transport: error while dialing: {why}");
        let destination = self.known.grpc(&self.opening.server).await.map_err(dialing)?;
        let addresses = destination.addresses.iter().filter_map(torr_net::Address::tcp);
        let source = self.known.source(self.opening.user);
        let mut wire = Wire::connect(addresses, source, self.counts.clone()).await.map_err(dialing)?;
        if let Some(tls) = &destination.tls {
            let failed = |why| format!("transport: authentication handshake failed: {why}");
            wire.secure(tls.client()).await.map_err(failed)?;
            if wire.protocol() != Some(b"h2") {
                return Err(failed("the server does not select HTTP/2 (ALPN)".to_owned()));
            }
        }
        let mut builder = Builder::new();
        builder.enable_push(false).initial_window_size(WINDOW).initial_connection_window_size(WINDOW_OF_ALL);
        builder.max_header_list_size(LARGEST_HEAD);
        let opened = builder.handshake(Duplex::new(wire)).await;
        let (sender, mut connection) = opened.map_err(|error| Fault::of_h2(&error).text)?;
        let pings = connection.ping_pong();
        spawn_local(async move {
            // Its calls learn of the error.
            let _ = connection.await;
        });
        answered(pings).await?;
        sender.ready().await.map_err(|error| Fault::of_h2(&error).text)
    }
}

/// Waits for the response to a ping: the other side has HTTP/2.
async fn answered(pings: Option<PingPong>) -> Result<(), String> {
    let Some(mut pings) = pings else { return Ok(()) };
    pings.ping(Ping::opaque()).await.map(drop).map_err(|error| Fault::of_h2(&error).text)
}
