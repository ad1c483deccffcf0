//! What a script says of a connection and of its calls, and what it learns of them.

use std::time::{Duration, Instant};

/// A server of gRPC, as its way is found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GrpcServer {
    /// Scheme, host and port, with the schemes of HTTP.
    pub origin: String,
    /// The name that its certificate must have, if it is not the host.
    pub name: Option<String>,
    /// What the script says of TLS.
    pub tls: GrpcTls,
}

/// What a script says of TLS, beside the options.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct GrpcTls {
    /// The trusted signers in PEM; empty for those of the system.
    pub signers: String,
    /// The certificate chain and the key of the client in PEM.
    pub identity: Option<(String, String)>,
    /// The password of the key.
    pub password: Option<String>,
}

// A private key is not for logs.
impl std::fmt::Debug for GrpcTls {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("GrpcTls").finish_non_exhaustive()
    }
}

/// A connection that is to be opened.
#[derive(Debug)]
pub struct Opening {
    /// The number by which its events are known.
    pub id: u64,
    /// The server.
    pub server: GrpcServer,
    /// The value of `:authority`.
    pub authority: String,
    /// The value of `user-agent`.
    pub user_agent: String,
    /// The number of the virtual user.
    pub user: u64,
    /// The time after which opening has failed.
    pub timeout: Duration,
    /// The size in bytes of the largest message that is received.
    pub most_received: usize,
}

/// Names and values of header fields, in lower case and in the order of their arrival. Those whose name ends in `-bin` are decoded.
pub type Metadata = Vec<(String, Vec<u8>)>;

/// A call that is to be made.
#[derive(Debug)]
pub struct Call {
    /// The number by which its events are known.
    pub id: u64,
    /// The path, `/PACKAGE.SERVICE/METHOD`.
    pub path: String,
    /// The metadata.
    pub metadata: Metadata,
    /// When the script made the call.
    pub began: Instant,
    /// The time after which it has failed.
    pub timeout: Option<Duration>,
    /// The only message of the request. Without one the request is a stream, and so is the response.
    pub message: Option<Vec<u8>>,
}

/// An event of a connection or of a call.
#[derive(Debug)]
pub enum GrpcEvent {
    /// The connection is open.
    Connected,
    /// The connection does not open, for the reason in the text.
    Unconnected(String),
    /// The header fields of a stream's request are on their way.
    Begun,
    /// A message of a stream has arrived.
    Message(Vec<u8>),
    /// The call has ended.
    Ended(Box<CallEnd>),
}

/// The end of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallEnd {
    /// The time from the call to its end.
    pub took: Duration,
    /// The status.
    pub status: u32,
    /// The text of the status.
    pub text: String,
    /// The content of `grpc-status-details-bin`; empty if there is none.
    pub details: Vec<u8>,
    /// The header fields before the messages.
    pub headers: Metadata,
    /// The message of a response that is no stream.
    pub message: Option<Vec<u8>>,
    /// The header fields behind the messages.
    pub trailers: Metadata,
}
