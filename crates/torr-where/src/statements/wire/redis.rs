//! Redis's protocol: commands as arrays or lines, values of both versions, pipelines, transactions.

mod value;

use super::event::{Completed, Fault, StatementId};
use super::sink::{IN_FLIGHT, Sink, is_tls};
use super::synchroniser::Synchroniser;
use crate::statements::normalise::redis::{ARGUMENT, ARGUMENTS};
use std::collections::VecDeque;
use value::{Value, Values};

/// The turns after which decoding begins in the middle of a connection. Clients that many threads share send without waiting.
const TURNS: u32 = 8;

/// Commands behind which messages come without a request.
const FOREIGN: [&str; 7] = ["MONITOR", "PSUBSCRIBE", "PSYNC", "REPLCONF", "SSUBSCRIBE", "SUBSCRIBE", "SYNC"];

/// Commands that wait for other clients, so that their time is no work.
const WAITING: [&str; 12] = [
    "BLMOVE",
    "BLMPOP",
    "BLPOP",
    "BRPOP",
    "BRPOPLPUSH",
    "BZMPOP",
    "BZPOPMAX",
    "BZPOPMIN",
    "WAIT",
    "WAITAOF",
    "XREAD",
    "XREADGROUP",
];

/// A command whose value has not come.
#[derive(Debug)]
struct Command {
    statement: StatementId,
    sent: u64,
    waits: bool,
}

/// The decoder of a connection to Redis.
#[derive(Debug)]
pub(crate) struct Redis {
    /// Finds the place where decoding can begin; `None` from there on.
    searching: Option<Synchroniser>,
    client: Values,
    server: Values,
    in_flight: VecDeque<Command>,
    /// When the last command ended.
    ended: u64,
}

impl Redis {
    pub(super) fn new(is_from_start: bool) -> Self {
        Self {
            searching: (!is_from_start).then(Synchroniser::default),
            client: Values::default(),
            server: Values::default(),
            in_flight: VecDeque::new(),
            ended: 0,
        }
    }

    pub(super) fn client(&mut self, mut bytes: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        if self.client.is_at_start() && is_tls(bytes) {
            return Err(Fault::Encrypted);
        }
        if let Some(synchroniser) = &mut self.searching {
            if !synchroniser.client(is_whole(bytes, true), at, TURNS) {
                return Ok(());
            }
            self.searching = None;
        }
        while let Some(value) = self.client.next(&mut bytes, true)? {
            self.command(&value, at, sink)?;
        }
        Ok(())
    }

    fn command(&mut self, value: &Value, at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let line: Vec<&[u8]>;
        let (arguments, has_more): (Vec<&[u8]>, bool) = if value.kind == b'*' {
            let kept = value.texts.iter().map(Vec::as_slice).take(ARGUMENTS);
            (kept.collect(), value.elements > ARGUMENTS as u64)
        } else {
            line = value.line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
            (line.iter().copied().take(ARGUMENTS).collect(), line.len() > ARGUMENTS)
        };
        // Redis ignores empty lines and arrays.
        let Some(name) = arguments.first() else { return Ok(()) };
        let is_one_of = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()));
        let changes_replies =
            is_one_of(&["CLIENT"]) && arguments.get(1).is_some_and(|sub| sub.eq_ignore_ascii_case(b"REPLY"));
        if is_one_of(&FOREIGN) || changes_replies {
            return Err(Fault::Foreign);
        }
        if self.in_flight.len() >= IN_FLIGHT {
            return Err(Fault::Lost);
        }
        let waits = is_one_of(&WAITING);
        let statement = sink.catalogue.command(&arguments, has_more);
        self.in_flight.push_back(Command { statement, sent: at, waits });
        Ok(())
    }

    pub(super) fn server(&mut self, mut bytes: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        if let Some(synchroniser) = &mut self.searching {
            synchroniser.server(is_whole(bytes, false), at);
            return Ok(());
        }
        while let Some(value) = self.server.next(&mut bytes, false)? {
            // The server pushes it by itself.
            if value.kind == b'>' {
                continue;
            }
            let Some(command) = self.in_flight.pop_front() else { return Err(Fault::Lost) };
            let time = if command.waits { 0 } else { at.saturating_sub(self.ended.max(command.sent)) };
            let (rows, failed) = (value.rows(), value.kind == b'-' || value.kind == b'!');
            sink.completed.push(Completed { statement: command.statement, is_call: true, time, rows, failed });
            self.ended = at;
        }
        Ok(())
    }
}

/// Returns whether a segment has whole values and nothing else.
fn is_whole(mut bytes: &[u8], is_client: bool) -> bool {
    let mut values = Values::default();
    let begins_array = !is_client || bytes.first() == Some(&b'*');
    while !bytes.is_empty() {
        if !matches!(values.next(&mut bytes, is_client), Ok(Some(_))) {
            return false;
        }
    }
    begins_array && values.is_at_start()
}

const _: () = assert!(ARGUMENT >= 32, "an argument that is kept is long enough for a command's name");
