//! Who is at the other end of a connection, as handlers are told.

use http::Extensions;
use std::net::SocketAddr;

/// The address of a client, among the extensions of each request that a router gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(pub SocketAddr);

/// What is put into a request's extensions about its client.
pub(crate) type Introduce = Box<dyn Fn(&mut Extensions, SocketAddr) + Send + Sync>;

/// What is known of a client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    pub address: Option<SocketAddr>,
}
