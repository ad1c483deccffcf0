//! What the handshake of TLS within QUIC shares with that over TCP: settings, parameters, tickets and the texts of errors.

use super::explain;
use super::records;
use super::tickets;
use super::{NegotiatedTls, TlsConfig, TlsError};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, CommonState};

/// Returns the settings of connections of QUIC for `rustls`, with a store of sessions of their own, and the server's name.
pub(crate) fn parts(tls: &TlsConfig) -> (ClientConfig, ServerName<'static>) {
    let mut config = tls.with_own_sessions();
    config.enable_early_data = tls.early_data();
    (config, tls.name())
}

/// Translates an error for users.
#[cold]
pub(crate) fn explained(tls: &TlsConfig, error: rustls::Error) -> TlsError {
    match explain::to_client(error) {
        TlsError::Alpn(_) => explain::no_protocol(tls.protocols()),
        error => error,
    }
}

/// Translates an error of a server.
#[cold]
pub(crate) fn explained_to_server(error: rustls::Error) -> TlsError {
    explain::to_server(error)
}

/// Returns the parameters of a complete handshake.
pub(crate) fn negotiated(tls: &CommonState) -> NegotiatedTls {
    records::parameters(tls)
}

/// Notes that the calling thread begins to process the messages of a connection, which has received so many bytes of them.
pub(crate) fn note_arrival(received: usize) {
    tickets::note_arrival(received, received);
}

/// Notes the certificate chain of a server.
pub(crate) fn note_chain(tls: &CommonState) {
    tickets::note_chain(tls.peer_certificates().unwrap_or_default().iter().map(AsRef::as_ref));
}
