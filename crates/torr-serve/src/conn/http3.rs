//! HTTP/3 of one worker: its UDP socket, the connections on it, and their requests, which have the handlers, router, limits and
//! time-outs of HTTP/2.
//!
//! A task of the worker's runtime drives all connections. The kernel assigns clients to the sockets of workers by a hash of
//! addresses, which changes when a client gets another address: a datagram that meets the wrong worker is passed on to the one that
//! its connection's identifier names.

mod connection;
mod deadlines;
mod endpoint;
mod mailbox;
mod outgoing;
mod request;
mod response;
mod timers;
mod wakes;

pub(crate) use endpoint::serve;
pub(crate) use mailbox::mailboxes;

use crate::conn::admission::ConnectionLimits;
use crate::settings::Settings;
use mailbox::{Mailbox, Passed};
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use torr_net::quic::{QuicLimits, QuicServer};
use torr_net::tls::{TlsAcceptor, TlsError};
use torr_wire::http3::LARGEST_SECTION;

/// The least time after which a quiet client gets a PING.
const LEAST_QUIET: Duration = Duration::from_secs(1);

/// The number of requests that a client may have in flight on a new connection. `quinn-proto` has an entry for each stream that may
/// come: with 100, each idle connection would take 7 KiB more.
const FIRST_REQUESTS: u32 = 16;
/// The number of requests that a client may have in flight once it has begun more than [`FEW_REQUESTS`], as RFC 9114 recommends at least
/// (section 6.1).
const REQUESTS: u32 = 100;
/// The number of requests from which on a connection is one in use, and not one that a client keeps in reserve.
const FEW_REQUESTS: u64 = 4;

/// What a worker needs to serve HTTP/3.
pub(crate) struct Http3Part {
    pub server: QuicServer,
    pub socket: OwnedFd,
    /// The mailbox, and what arrives in it.
    pub mailbox: (Mailbox, Receiver<Passed>),
    pub limits: ConnectionLimits,
}

/// Returns the settings of QUIC for a server.
///
/// # Errors
/// If the settings of TLS allow no HTTP/3.
pub(crate) fn server(tls: &TlsAcceptor, settings: &Settings) -> Result<QuicServer, TlsError> {
    let quiet = settings.write_timeout.max(LEAST_QUIET);
    QuicServer::new(tls, QuicLimits { requests: FIRST_REQUESTS, quiet, early_data: settings.http3_early_data })
}

/// Returns the most bytes of a field section.
fn most_of_fields(settings: &Settings) -> usize {
    settings.most_of_head().min(LARGEST_SECTION)
}
