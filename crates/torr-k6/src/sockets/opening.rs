//! What a script says of a WebSocket that it opens.

use std::time::Duration;
use torr_wire::websocket::{Key, Offer};

/// A WebSocket that is to be opened.
#[derive(Debug)]
pub struct Opening {
    /// The number of the socket.
    pub id: u64,
    /// Scheme, host and port, with the schemes of HTTP.
    pub origin: String,
    /// The request of the handshake.
    pub request: Vec<u8>,
    /// The key in the request.
    pub key: Key,
    /// The subprotocols that the request offers.
    pub subprotocols: Vec<String>,
    /// The compression that the request offers.
    pub deflate: Option<Offer>,
    /// The number of the virtual user.
    pub user: u64,
    /// The time after which the handshake has failed.
    pub timeout: Duration,
}
