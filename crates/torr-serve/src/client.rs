//! The client of a connection or a request, as handlers see it.

pub(crate) mod connection_info;
pub(crate) mod forwarded;
pub(crate) mod proxy_protocol;
pub(crate) mod request_id;

use crate::client::connection_info::ConnectionInfo;
use crate::client::forwarded::Scheme;
use crate::client::request_id::RequestId;
use http::Extensions;
use std::net::SocketAddr;
use std::sync::Arc;
use torr_net::tls::TlsServer;

/// The address of a client: an extension of each request that a router receives, if [`App::peer_as`] sets one. Behind a
/// trusted proxy it is the address of the proxy's client, with port 0 where the proxy does not send the port.
///
/// [`App::peer_as`]: crate::App::peer_as
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(pub SocketAddr);

/// The scheme and host of the client's request to a trusted proxy. Requests that the proxy forwards have an `Arc<Origin>`
/// among their extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The proxy's address; `None` on a Unix socket.
    pub proxy: Option<SocketAddr>,
    /// The scheme that the client used; `None` if the proxy does not send it.
    pub scheme: Option<Scheme>,
    /// The host of the client's request; `None` if the proxy does not send it.
    pub host: Option<String>,
}

/// The TLS parameters of a connection. Its requests have an `Arc<Tls>` among their extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tls {
    /// The protocol version, such as `TLSv1.3`.
    pub version: String,
    /// The cipher suite, such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The server name that the client sent (SNI).
    pub server_name: Option<String>,
    /// The client's certificate chain in DER, its own certificate first. Empty if the server requests no certificates.
    pub client_certificates: Vec<Vec<u8>>,
}

impl Tls {
    /// Returns the parameters of a connection, `None` before its handshake is complete.
    pub(crate) fn of(secure: &TlsServer) -> Option<Self> {
        let secured = secure.negotiated()?;
        Some(Self {
            version: secured.version,
            cipher: secured.cipher,
            server_name: secure.server_name().map(str::to_owned),
            client_certificates: secure.client_certificates().map(<[u8]>::to_vec).collect(),
        })
    }
}

/// Inserts the client's address into a request's extensions.
pub(crate) type Introduce = Box<dyn Fn(&mut Extensions, SocketAddr) + Send + Sync>;

/// Inserts what is known of the connection into a request's extensions.
pub(crate) type Describe = Box<dyn Fn(&mut Extensions, &ConnectionInfo) + Send + Sync>;

/// The client of a connection, or of one request behind a proxy.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    pub address: Option<SocketAddr>,
    /// Whether the peer is a proxy that does not know its client: forwarding fields are then the client's own and not trusted.
    pub is_unknown: bool,
    pub tls: Option<Arc<Tls>>,
    pub origin: Option<Arc<Origin>>,
    /// `None` where the application asks for none.
    pub connection: Option<Arc<ConnectionInfo>>,
    /// The id of the request.
    pub id: Option<RequestId>,
}
