//! How clients come in, or are turned away.

use super::*;
use crate::client::proxy_protocol::ProxyProtocol;
use crate::conn::stamp::Stamp;
use crate::observe::telemetry::Gauge;
use torr_net::tls::TlsAcceptor;

impl Engine {
    /// Accepts a few connections and receives from them at once, since their requests are often there already. Returns
    /// whether there may be more to accept.
    pub(super) fn accept(&mut self) -> bool {
        let mut newcomers = std::mem::take(&mut self.newcomers);
        let mut more = true;
        for _ in 0..self.burst {
            match self.accept_one() {
                Accepted::In(token) => newcomers.push(Event::assumed(token)),
                Accepted::TurnedAway => {}
                Accepted::Nobody => {
                    more = false;
                    break;
                }
            }
        }
        // Only after a while, since to find that nobody is left costs a system call.
        self.streak = if more { self.streak + 1 } else { 0 };
        self.burst = (1 << (self.streak / 4).min(4)).min(STAGE);
        self.receive(&newcomers);
        newcomers.clear();
        self.newcomers = newcomers;
        self.cx.meter.set(Gauge::Open, self.connections.len() as u64);
        more
    }

    pub(super) fn accept_one(&mut self) -> Accepted {
        let Some(listener) = &self.listener else { return Accepted::Nobody };
        let (socket, peer) = match socket::accept(listener) {
            Ok(Some(accepted)) => accepted,
            Ok(None) => return Accepted::Nobody,
            Err(error) => {
                // The listener stays ready: without a pause the loop would spin.
                if socket::is_out_of_files(&error) {
                    tracing::warn!(%error, "nothing is accepted for a while");
                    let _ = self.poller.remove(listener);
                    self.accept_again = Some(self.now + clock::nanos(ACCEPT_PAUSE));
                }
                return Accepted::Nobody;
            }
        };
        self.cx.meter.add(Count::Accepted, 1);
        let announced = self.cx.settings.proxy_protocol == ProxyProtocol::Required;
        // A proxy has the connections of many clients.
        let trusted = &self.cx.settings.trusted_proxies;
        let counted = peer.map(|peer| peer.ip()).filter(|&ip| !trusted.trusts(Some(ip)));
        if announced && counted.is_some() {
            self.cx.meter.add(Count::TurnedAway, 1);
            return Accepted::TurnedAway;
        }
        let Ok(seat) = self.seats.take(counted) else {
            self.cx.meter.add(Count::TurnedAway, 1);
            tracing::debug!(?peer, "a connection beyond the limit is turned away");
            // Who expects TLS could not read it.
            if self.cx.tls.is_none() {
                turn_away(&socket, &self.cx.stamp);
            }
            return Accepted::TurnedAway;
        };
        let secure = match self.cx.tls.as_ref().map(TlsAcceptor::accept).transpose() {
            Ok(secure) => secure.map(Box::new),
            Err(_) => return Accepted::TurnedAway,
        };
        let token = self.connections.insert(Connection {
            socket,
            seat,
            watched: false,
            unread: false,
            ended: false,
            secure,
            preamble: announced.then(Vec::new),
            http: Http1::with(Client { address: peer, ..Client::default() }),
            doing: Doing::Receiving,
            since: self.now,
            unsent: Vec::new(),
            body: None,
            endless: false,
            waiter: None,
            asked: 0,
            after: After::GoOn,
        });
        self.connections.get_mut(token).into_iter().for_each(|connection| connection.http.call_it(token));
        Accepted::In(token)
    }
}

/// Answers one connection too many. Whatever goes wrong with it is as good as its refusal.
#[cold]
fn turn_away(socket: &OwnedFd, stamp: &Stamp) {
    let _ = socket::send(socket, &[TOO_MANY, stamp.bytes(), b"\r\n"].concat());
    socket::end_sending(socket);
    // A request that nobody has read would turn the end into a reset, which might overtake the answer.
    let _ = socket::recv(socket, &mut [0; 4096]);
}
