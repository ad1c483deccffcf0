//! How clients come in, or are turned away.

use super::*;

impl Engine {
    /// Accepts a few connections and receives from them at once, since their requests are often there already. Returns
    /// whether there may be more to accept.
    pub(super) fn accept(&mut self) -> bool {
        let mut newcomers = std::mem::take(&mut self.newcomers);
        let mut more = true;
        for _ in 0..self.burst {
            match self.accept_one() {
                Accepted::In(token) => newcomers.push(Event::perhaps(token)),
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
                    let _ = self.poller.remove(listener);
                    self.accept_again = Some(self.now + clock::nanos(ACCEPT_PAUSE));
                }
                return Accepted::Nobody;
            }
        };
        // A proxy has the connections of many clients.
        let trusted = &self.settings.trusted_proxies;
        let counted = peer.map(|peer| peer.ip()).filter(|&ip| !trusted.trusts(Some(ip)));
        let Ok(seat) = self.seats.take(counted) else {
            turn_away(&socket, &self.stamp);
            return Accepted::TurnedAway;
        };
        Accepted::In(self.connections.insert(Connection {
            socket,
            _seat: seat,
            watched: false,
            unread: false,
            http: Http1::with(peer),
            doing: Doing::Receiving,
            since: self.now,
            unsent: Vec::new(),
            body: None,
            waiter: None,
            after: After::GoOn,
        }))
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
