//! MySQL's protocol, which MariaDB has as well: packets with a sequence number that begins again with each command.

mod exchange;
mod greeting;
mod packet;
mod response;

use super::event::Fault;
use super::sink::{Sink, is_tls};
use super::synchroniser::Synchroniser;
use exchange::Exchange;
use greeting::Greeting;
use packet::{CLIENT, CONTINUATION, SERVER, Side, length};

/// The turns after which decoding begins in the middle of a connection. Sequence numbers would show a client that does not wait.
const TURNS: u32 = 2;

/// The state of a connection.
#[derive(Debug)]
enum State {
    /// The place where decoding can begin is not found.
    Searching(Synchroniser),
    /// The server greets, then both agree on a login.
    Starting(Greeting),
    /// The client sends commands.
    Commands,
}

/// The decoder of a connection to MySQL or MariaDB.
#[derive(Debug)]
pub(crate) struct MySql {
    state: State,
    client: Side,
    server: Side,
    exchange: Exchange,
}

impl MySql {
    pub(super) fn new(is_from_start: bool) -> Self {
        let state = if is_from_start {
            State::Starting(Greeting::default())
        } else {
            State::Searching(Synchroniser::default())
        };
        Self { state, client: Side::default(), server: Side::default(), exchange: Exchange::default() }
    }

    /// Forgets what is in flight. Numbers of prepared statements are not used twice in a connection, so those are kept.
    pub(super) fn begin_again(&mut self) {
        self.state = State::Searching(Synchroniser::default());
        self.client = Side::default();
        self.server = Side::default();
        self.exchange.forget();
    }

    pub(super) fn client(&mut self, mut bytes: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        if let State::Searching(synchroniser) = &mut self.state {
            if is_tls(bytes) {
                return Err(Fault::Encrypted);
            }
            if !synchroniser.client(begins_command(bytes), at, TURNS) {
                return Ok(());
            }
            self.state = State::Commands;
        }
        while let Some(frame) = self.client.next(&mut bytes, CLIENT)? {
            match &mut self.state {
                _ if frame.length == CONTINUATION => self.exchange.continued(frame.header[3]),
                State::Starting(greeting) => greeting.client(frame)?,
                State::Commands | State::Searching(_) => self.exchange.client(frame, at, sink)?,
            }
        }
        Ok(())
    }

    pub(super) fn server(&mut self, mut bytes: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        if let State::Searching(synchroniser) = &mut self.state {
            if is_tls(bytes) {
                return Err(Fault::Encrypted);
            }
            // The sequence numbers tell whether this was the end.
            synchroniser.server(true, at);
            return Ok(());
        }
        while let Some(frame) = self.server.next(&mut bytes, SERVER)? {
            match &mut self.state {
                _ if frame.length == CONTINUATION => self.exchange.continued(frame.header[3]),
                State::Starting(greeting) => {
                    if greeting.server(frame)? {
                        self.state = State::Commands;
                    }
                }
                State::Commands | State::Searching(_) => self.exchange.server(frame, at, sink)?,
            }
        }
        Ok(())
    }
}

/// Returns whether a segment of the client is one command.
fn begins_command(bytes: &[u8]) -> bool {
    let Some(header) = bytes.first_chunk::<5>() else { return false };
    header[3] == 0 && length(header) + 4 == bytes.len() && exchange::is_command(header[4])
}
