//! New connections, which are accepted or turned away.

use super::connection::Connection;
use super::{BATCH, Engine, LISTENER};
use crate::client::Client;
use crate::client::connection_info::ConnectionInfo;
use crate::client::proxy_protocol::ProxyProtocol;
use crate::conn::common_headers::CommonHeaders;
use crate::conn::http1::Http1;
use crate::conn::transport::Transport;
use crate::observe::metrics_table::{Count, Gauge};
use crate::observe::notice;
use crate::process::open_listener::{self, Listener};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use torr_net::{Event, Nanos, Token, clock, socket};

/// The pause of accepting when the process has no descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The time for which the process does not repeat the warning of that, which each worker would give at each pause.
const WARN_PAUSE: Duration = Duration::from_secs(60);

/// The number of receives of a connection that is turned away, whose bytes are discarded.
const MOST_DISCARDED: usize = 16;

/// The response to a connection beyond the limit, but for the fields that end every header section.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n";

/// The outcome of an accept.
pub(super) enum Accepted {
    Open(Token),
    TurnedAway,
    Nothing,
}

impl<T: Transport> Engine<T> {
    /// Accepts a few connections and receives from them at once, since their requests are often there already. Returns
    /// whether there may be more to accept.
    pub(super) fn accept(&mut self) -> bool {
        let Some(listener) = self.listener.take() else { return false };
        let mut accepted = std::mem::take(&mut self.accepted);
        let mut more = true;
        for _ in 0..self.burst {
            match self.accept_one(&listener) {
                Accepted::Open(token) => accepted.push(Event::assumed(token)),
                Accepted::TurnedAway => {}
                Accepted::Nothing => {
                    more = false;
                    break;
                }
            }
        }
        self.listener = Some(listener);
        // Only after a while, since to find that nothing is left costs a system call.
        self.streak = if more { self.streak + 1 } else { 0 };
        self.burst = (1 << (self.streak / 4).min(4)).min(BATCH);
        self.receive(&accepted);
        accepted.clear();
        self.accepted = accepted;
        self.cx.worker.meter.set(Gauge::Open, self.connections.len() as u64);
        more
    }

    /// Accepts a connection at a listener.
    #[inline]
    pub(super) fn accept_one(&mut self, listener: &Listener) -> Accepted {
        let (socket, peer) = match socket::accept(listener) {
            Ok(Some(accepted)) => accepted,
            Ok(None) => return Accepted::Nothing,
            Err(error) => {
                // The listener stays ready: without a pause the loop would spin.
                if socket::is_out_of_files(&error) {
                    warn_of_pause(&error, self.now);
                    let _ = self.poller.remove(listener);
                    self.accept_again = Some(self.now + clock::nanos(ACCEPT_PAUSE));
                }
                return Accepted::Nothing;
            }
        };
        self.cx.worker.meter.add(Count::Accepted, 1);
        // A proxy has the connections of many clients.
        let ip = peer.map(|peer| peer.ip());
        let is_trusted = self.cx.worker.settings.trusted_proxies.trusts(ip);
        let counted = ip.filter(|_| !is_trusted);
        if self.cx.worker.settings.proxy_protocol == ProxyProtocol::Required && !is_trusted {
            self.cx.worker.meter.add(Count::TurnedAway, 1);
            return Accepted::TurnedAway;
        }
        let Ok(admission) = self.limits.admit(counted) else {
            self.cx.worker.meter.add(Count::TurnedAway, 1);
            tracing::debug!(?peer, "a connection beyond the limit was rejected");
            // A client that expects TLS could not read the response.
            if self.cx.worker.tls.is_none() {
                turn_away(&socket, &self.cx.common_headers);
            }
            return Accepted::TurnedAway;
        };
        let Ok(transport) = T::accept(self.cx.worker.tls.as_ref()) else { return Accepted::TurnedAway };
        let describes = self.cx.worker.app.shared.describes_connections();
        let connection = describes.then(|| Arc::new(ConnectionInfo::of(&socket, peer)));
        let http = Http1::new(Client { address: peer, connection, ..Client::default() });
        let mut connection = Connection::new(socket, admission, transport, http, self.now, false);
        connection.expires = self.expiry();
        Accepted::Open(self.connections.insert(connection))
    }

    /// Returns the time at which a connection that begins now is old.
    #[inline]
    fn expiry(&self) -> Nanos {
        let age = clock::nanos(self.cx.worker.settings.max_connection_age);
        // Connections that were opened together do not end together, and their clients do not come again together.
        if age == 0 { Nanos::MAX } else { (self.now + age).saturating_sub(fastrand::u64(0..=age / 10)) }
    }

    /// Accepts again after a pause.
    pub(super) fn resume_accepting(&mut self) {
        if self.accept_again.is_none_or(|at| at > self.now) {
            return;
        }
        let added = self
            .listener
            .as_deref()
            .map(|listener| self.poller.add(listener, LISTENER, open_listener::interest(&self.cx.worker.settings)));
        match added {
            // What made the pause necessary may make this fail as well, until the next pause is over.
            Some(Err(error)) if error.kind() != io::ErrorKind::AlreadyExists => {
                warn_of_pause(&error, self.now);
                self.accept_again = Some(self.now + clock::nanos(ACCEPT_PAUSE));
            }
            _ => self.accept_again = None,
        }
    }
}

/// Warns that connections wait for a file descriptor, once a minute at most.
#[cold]
fn warn_of_pause(error: &io::Error, now: Nanos) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let renew = |next| (now >= next).then(|| now + clock::nanos(WARN_PAUSE));
    if NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, renew).is_ok() {
        notice::warn(&format!(
            "cannot accept new connections ({error}): raise the limit of open files (ulimit -n, LimitNOFILE=) or \
             lower max_connections"
        ));
    }
}

/// Sends a response to a connection beyond the limit. A failure to do so is as good as the refusal.
#[cold]
fn turn_away(socket: &OwnedFd, common: &CommonHeaders) {
    let _ = socket::send(socket, &[TOO_MANY, common.bytes(), b"\r\n"].concat());
    socket::end_sending(socket);
    // Unread bytes would turn the close into a reset, which might overtake the response.
    let mut room = [0; 16 * 1024];
    for _ in 0..MOST_DISCARDED {
        if !matches!(socket::recv(socket, &mut room), Ok(Some(1..))) {
            break;
        }
    }
}
