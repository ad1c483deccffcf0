//! Who is at the other end of a connection, as handlers are told.

pub(crate) mod forwarded;
pub(crate) mod proxy_protocol;
pub(crate) mod request_id;

use crate::client::forwarded::Scheme;
use crate::client::request_id::RequestId;
use http::Extensions;
use std::net::SocketAddr;
use std::sync::Arc;
use torr_net::tls::TlsServer;

/// The address of a client, among the extensions of each request that a router gets if [`App::peer_as`] asks for it. Behind a trusted proxy it is that of
/// the proxy's client; its port is 0 where it is not told.
///
/// [`App::peer_as`]: crate::App::peer_as
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(pub SocketAddr);

/// What a trusted proxy was asked for. Among the extensions of the requests that it passes on it is an `Arc` of this.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The proxy.
    pub proxy: Option<SocketAddr>,
    /// The scheme that the client used, if the proxy tells.
    pub scheme: Option<Scheme>,
    /// The host that the client asked for, if the proxy tells.
    pub host: Option<String>,
}

/// How a connection is secured. Among the extensions of its requests it is an `Arc` of this.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tls {
    /// Such as `TLSv1.3`.
    pub version: String,
    /// Such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The server that the client asked for (SNI).
    pub server_name: Option<String>,
    /// The certificates that the client has shown, its own first, in DER. Empty if it was not asked for any.
    pub client_certificates: Vec<Vec<u8>>,
}

impl Tls {
    /// Of a connection whose handshake is complete.
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

/// What is put into a request's extensions about its client.
pub(crate) type Introduce = Box<dyn Fn(&mut Extensions, SocketAddr) + Send + Sync>;

/// What is known of a client, or of who sent one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    pub address: Option<SocketAddr>,
    /// The peer is a proxy that does not know who its client is: what stands in requests is not the proxy's word.
    pub is_unknown: bool,
    pub tls: Option<Arc<Tls>>,
    pub origin: Option<Arc<Origin>>,
    /// Of the request.
    pub id: Option<RequestId>,
}
