//! Where to begin in the middle of a connection: turns of a client and a server that end at a message's end.

/// The shortest pause between a response and the next request that is taken for one.
const PAUSE: u64 = 20_000;

/// The sender of the last segment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Unknown,
    Client,
    /// The server, within a response.
    Server,
    /// The server, at the end of a response.
    ServerEnd,
}

/// Finds the place in a connection from which requests and responses match.
///
/// A client that sends requests before it has the responses (pipelining) looks like one that does not, if the number of requests
/// in flight stays the same. So decoding begins only after several turns, or after a pause in which the server would have sent
/// another response.
#[derive(Debug, Default)]
pub(super) struct Synchroniser {
    last: Last,
    turns: u32,
    turn_began: Option<u64>,
    server_ended: u64,
}

impl Synchroniser {
    /// Notes a segment of the client, and returns whether decoding can begin with it.
    pub(super) fn client(&mut self, begins_request: bool, at: u64, turns_needed: u32) -> bool {
        let mut is_synchronised = false;
        match self.last {
            Last::Client => return false,
            Last::ServerEnd if begins_request => {
                self.turns += 1;
                let pause = at.saturating_sub(self.server_ended);
                let turn = self.turn_began.map(|began| self.server_ended.saturating_sub(began));
                let is_paused = turn.is_some_and(|turn| pause >= turn.max(PAUSE));
                is_synchronised = is_paused || self.turns >= turns_needed;
            }
            _ => self.turns = 0,
        }
        self.last = Last::Client;
        self.turn_began = Some(at);
        is_synchronised
    }

    /// Notes a segment of the server.
    pub(super) fn server(&mut self, ends_response: bool, at: u64) {
        self.last = if ends_response { Last::ServerEnd } else { Last::Server };
        self.server_ended = at;
    }
}
