//! The client's store of sessions for resumption.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Mutex;

/// The limit of stored tickets, and the limit of their bytes: a server may send tickets of 64 KiB, with each of which `rustls` keeps a
/// copy of the server's certificates.
const MAX_TICKETS: usize = 16 * 1024;
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// The number of bytes that a ticket takes apart from these.
const FIXED: usize = 512;

thread_local! {
    /// An upper bound of the bytes of a ticket among the bytes that the calling thread is processing. `rustls` does not tell the size
    /// of a ticket.
    static ARRIVED: Cell<usize> = const { Cell::new(0) };
    /// The bytes of the longest certificate chain that a server has sent to the calling thread.
    static CHAIN: Cell<usize> = const { Cell::new(0) };
}

/// Notes that a thread begins to process `arrived` bytes, on a connection whose handshake took `handshake` bytes.
#[inline]
pub(super) fn note_arrival(arrived: usize, handshake: usize) {
    ARRIVED.set(arrived + handshake.max(CHAIN.get()));
}

/// Notes the certificate chain of a server, which a resumed session has without it being sent.
pub(super) fn note_chain<'c>(chain: impl Iterator<Item = &'c [u8]>) {
    CHAIN.set(CHAIN.get().max(chain.map(<[u8]>::len).sum()));
}

/// The sessions with one server. The store of `rustls` keeps 8 tickets, too few for hundreds of connections of which each
/// consumes one.
#[derive(Debug)]
pub(super) struct Tickets {
    /// Whether sessions are stored at all; false simulates a first-time visitor.
    resume: bool,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    group: Option<NamedGroup>,
    session: Option<Tls12ClientSessionValue>,
    /// The tickets, each with the bytes that it counts for.
    tickets: VecDeque<(usize, Tls13ClientSessionValue)>,
    /// The bytes of all tickets.
    bytes: usize,
}

impl Tickets {
    pub fn new(resume: bool) -> Self {
        Self { resume, sessions: Mutex::default() }
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _name: ServerName<'static>, group: NamedGroup) {
        self.sessions().group = Some(group);
    }

    fn kx_hint(&self, _name: &ServerName<'_>) -> Option<NamedGroup> {
        self.sessions().group
    }

    fn set_tls12_session(&self, _name: ServerName<'static>, session: Tls12ClientSessionValue) {
        if self.resume {
            self.sessions().session = Some(session);
        }
    }

    fn tls12_session(&self, _name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.sessions().session.clone()
    }

    fn remove_tls12_session(&self, _name: &ServerName<'static>) {
        self.sessions().session = None;
    }

    fn insert_tls13_ticket(&self, _name: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let (mut sessions, bytes) = (self.sessions(), ARRIVED.get() + FIXED);
        if self.resume && sessions.tickets.len() < MAX_TICKETS && sessions.bytes + bytes <= MAX_BYTES {
            sessions.bytes += bytes;
            sessions.tickets.push_back((bytes, ticket));
        }
    }

    fn take_tls13_ticket(&self, _name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        let mut sessions = self.sessions();
        let (bytes, ticket) = sessions.tickets.pop_front()?;
        sessions.bytes -= bytes;
        Some(ticket)
    }
}

#[cfg(all(test, feature = "tls-ring"))]
mod tests {
    use super::super::provider::provider;
    use super::super::{Roots, TlsClient, TlsSettings};
    use super::*;
    use rustls::client::Resumption;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::server::ProducesTickets;
    use rustls::{ServerConfig, ServerConnection};
    use std::sync::Arc;

    /// The bytes of each ticket, close to the most that the protocol allows.
    const LARGE: usize = 60_000;

    #[derive(Debug)]
    struct LargeTickets;

    impl ProducesTickets for LargeTickets {
        fn enabled(&self) -> bool {
            true
        }

        fn lifetime(&self) -> u32 {
            3600
        }

        fn encrypt(&self, _: &[u8]) -> Option<Vec<u8>> {
            Some(vec![0; LARGE])
        }

        fn decrypt(&self, _: &[u8]) -> Option<Vec<u8>> {
            None
        }
    }

    /// A server that sends `count` tickets behind each handshake.
    fn server(count: usize) -> ServerConnection {
        let made = rcgen::generate_simple_self_signed(["a.test".to_owned()]).expect("a certificate can be made");
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let builder = ServerConfig::builder_with_provider(provider().expect("there is a provider"));
        let builder = builder.with_safe_default_protocol_versions().expect("there are versions").with_no_client_auth();
        let mut config = builder.with_single_cert(vec![made.cert.der().clone()], key).expect("the key is its own");
        (config.ticketer, config.send_tls13_tickets) = (Arc::new(LargeTickets), count);
        ServerConnection::new(Arc::new(config)).expect("the configuration is sound")
    }

    #[test]
    fn tickets_of_a_server_take_bounded_memory_and_fewer_are_kept() {
        const SENT: usize = 2 * MAX_BYTES / LARGE;
        let tickets = Arc::new(Tickets::new(true));
        let mut settings = TlsSettings::new("a.test");
        settings.roots = Roots::AcceptAny;
        let mut config = settings.client_config().expect("there is a provider");
        config.resumption = Resumption::store(Arc::clone(&tickets) as Arc<dyn ClientSessionStore>);
        let name = ServerName::try_from("a.test").expect("it is a name");
        let (mut client, mut server) = (TlsClient::new(Arc::new(config), name, false), server(SENT));
        let (mut to_server, mut to_client, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        client.open(&mut to_server).expect("a handshake can begin");
        loop {
            server.read_tls(&mut &*std::mem::take(&mut to_server)).expect("bytes can be read");
            server.process_new_packets().expect("the client keeps to the protocol");
            while server.wants_write() {
                server.write_tls(&mut to_client).expect("memory can be written");
            }
            if to_client.is_empty() {
                break;
            }
            for piece in std::mem::take(&mut to_client).chunks_mut(256 * 1024) {
                client.receive(piece, &mut to_server, &mut plain).expect("the server keeps to the protocol");
            }
        }
        assert!(!client.is_handshaking());
        let kept = tickets.sessions().tickets.len();
        assert!((100..=MAX_BYTES / LARGE).contains(&kept), "{kept} of {SENT} tickets are kept");
        let name = ServerName::try_from("a.test").expect("it is a name");
        while tickets.take_tls13_ticket(&name).is_some() {}
        assert_eq!(tickets.sessions().bytes, 0, "what is taken makes room");
    }
}
