//! PostgreSQL's protocol: from a connection's start, or from where a response ends.

mod exchange;
mod layout;

use super::event::Fault;
use super::frame::{Frame, Frames};
use super::sink::{Sink, is_tls};
use super::synchroniser::Synchroniser;
use exchange::Exchange;

/// The turns after which decoding begins in the middle of a connection.
const TURNS: u32 = 4;

/// The codes of the first message.
const VERSION_3: u32 = 3 << 16;
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSSAPI: u32 = 80_877_104;

/// The state of a connection.
#[derive(Debug)]
enum State {
    /// The place where decoding can begin is not found.
    Searching(Synchroniser),
    /// The client sends its first message, which has no type.
    Starting,
    /// The server sends one byte that says whether it encrypts.
    Encrypting,
    /// Messages with types follow.
    Typed(Box<Exchange>),
}

/// The decoder of a connection to PostgreSQL.
#[derive(Debug)]
pub(crate) struct Postgres {
    state: State,
    client: Frames,
    server: Frames,
}

impl Postgres {
    pub(super) fn new(is_from_start: bool) -> Self {
        let state = if is_from_start { State::Starting } else { State::Searching(Synchroniser::default()) };
        Self { state, client: Frames::default(), server: Frames::default() }
    }

    pub(super) fn client(&mut self, mut bytes: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        if let State::Searching(synchroniser) = &mut self.state {
            if is_tls(bytes) {
                return Err(Fault::Encrypted);
            }
            if !synchroniser.client(layout::begins_request(bytes), at, TURNS) {
                return Ok(());
            }
            self.state = State::Typed(Box::new(Exchange::new(false)));
        }
        loop {
            match &mut self.state {
                State::Starting => {
                    let Some(frame) = self.client.next(&mut bytes, layout::STARTUP)? else { return Ok(()) };
                    self.state = started(frame)?;
                }
                State::Typed(exchange) => {
                    let Some(frame) = self.client.next(&mut bytes, layout::CLIENT)? else { return Ok(()) };
                    exchange.client(frame, at, sink)?;
                }
                // The client waits for the byte.
                State::Encrypting | State::Searching(_) if bytes.is_empty() => return Ok(()),
                State::Encrypting | State::Searching(_) => return Err(Fault::Lost),
            }
        }
    }

    pub(super) fn server(&mut self, mut bytes: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        loop {
            match &mut self.state {
                State::Searching(synchroniser) => {
                    synchroniser.server(layout::ends_response(bytes), at);
                    return Ok(());
                }
                State::Typed(exchange) => {
                    let Some(frame) = self.server.next(&mut bytes, layout::SERVER)? else { return Ok(()) };
                    exchange.server(frame, at, sink)?;
                }
                State::Encrypting => match bytes.split_first() {
                    None => return Ok(()),
                    Some((b'N', rest)) => {
                        bytes = rest;
                        self.state = State::Starting;
                    }
                    Some((b'S' | b'G', _)) => return Err(Fault::Encrypted),
                    Some(_) => return Err(Fault::Lost),
                },
                State::Starting if bytes.is_empty() => return Ok(()),
                State::Starting => return Err(Fault::Lost),
            }
        }
    }
}

/// Returns the state behind a client's first message.
fn started(frame: Frame<'_>) -> Result<State, Fault> {
    let code = frame.content.first_chunk().map(|code| u32::from_be_bytes(*code)).ok_or(Fault::Lost)?;
    match code {
        TLS | GSSAPI => Ok(State::Encrypting),
        CANCEL => Err(Fault::Foreign),
        code if code >> 16 == VERSION_3 >> 16 => Ok(State::Typed(Box::new(Exchange::new(true)))),
        _ => Err(Fault::Lost),
    }
}
