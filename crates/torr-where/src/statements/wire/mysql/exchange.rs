//! Commands in flight to MySQL, and the responses that end them.

use super::super::cursor::Cursor;
use super::super::event::{Completed, Fault, StatementId};
use super::super::frame::Frame;
use super::super::sink::{IN_FLIGHT, Sink};
use super::response::{Expected, Response, Step};
use crate::statements::normalise::Dialect;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The most prepared statements of a connection whose texts are kept.
const PREPARED: usize = 4096;

/// Commands.
const QUIT: u8 = 0x01;
const QUERY: u8 = 0x03;
const FIELD_LIST: u8 = 0x04;
const STATISTICS: u8 = 0x09;
const CHANGE_USER: u8 = 0x11;
const BINLOG_DUMP: u8 = 0x12;
const REGISTER_SLAVE: u8 = 0x15;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const LONG_DATA: u8 = 0x18;
const CLOSE: u8 = 0x19;
const FETCH: u8 = 0x1c;
const BINLOG_DUMP_GTID: u8 = 0x1e;
const RESET_CONNECTION: u8 = 0x1f;
const BULK_EXECUTE: u8 = 0xfa;

/// The number that stands for the statement that was prepared last (MariaDB).
const LAST: u64 = 0xffff_ffff;

/// Returns whether a byte is that of a command with a response.
pub(super) fn is_command(byte: u8) -> bool {
    matches!(byte, 0x02..=0x0e | 0x11 | PREPARE..=LONG_DATA | 0x1a..=FETCH | RESET_CONNECTION | BULK_EXECUTE)
}

/// A command whose response is not complete.
#[derive(Debug)]
struct Command {
    expected: Expected,
    sent: u64,
    /// The statements, none of a command that is none.
    statements: Arc<[StatementId]>,
    /// The number of results that are complete.
    results: usize,
    /// Whether the command runs statements, and does not only prepare them.
    runs: bool,
}

/// The commands and prepared statements of a connection.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    in_flight: VecDeque<Command>,
    response: Response,
    prepared: HashMap<u64, Arc<[StatementId]>>,
    /// The statement that was prepared last.
    last: Option<Arc<[StatementId]>>,
    /// When the last command ended.
    ended: u64,
}

impl Exchange {
    /// Forgets the commands in flight.
    pub(super) fn forget(&mut self) {
        self.in_flight.clear();
        self.response = Response::default();
        self.last = None;
    }

    /// Takes the number of a packet that continues the one before.
    pub(super) fn continued(&mut self, number: u8) {
        self.response.continued(number);
    }

    /// Takes a packet of the client.
    pub(super) fn client(&mut self, frame: Frame<'_>, at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        if frame.header[3] != 0 {
            // Data of LOAD DATA LOCAL, or of a change of the user.
            return self.response.client_data(frame.header[3]);
        }
        let mut content = Cursor(frame.content);
        let command = content.byte().ok_or(Fault::Lost)?;
        let mut statements: Arc<[StatementId]> = Arc::from([]);
        let mut runs = false;
        let expected = match command {
            QUIT => return Ok(()),
            QUERY => {
                runs = true;
                statements = query(content.0, frame, sink);
                Expected::Result
            }
            PREPARE => {
                statements = sink.catalogue.sql(content.0, Dialect::MySql, frame.length > frame.content.len());
                self.last = Some(statements.clone());
                Expected::Prepared
            }
            EXECUTE | BULK_EXECUTE => {
                runs = true;
                let number = content.little_endian(4).ok_or(Fault::Lost)?;
                let known = if number == LAST { self.last.as_ref() } else { self.prepared.get(&number) };
                statements = known.cloned().unwrap_or_else(|| Arc::from([StatementId::UNSEEN]));
                Expected::Result
            }
            FETCH => Expected::Rows,
            FIELD_LIST => Expected::Rows,
            STATISTICS => Expected::Anything,
            CLOSE => {
                let number = content.little_endian(4).ok_or(Fault::Lost)?;
                self.prepared.remove(&number);
                return Ok(());
            }
            LONG_DATA => return Ok(()),
            // Copies of the server's log follow.
            BINLOG_DUMP | BINLOG_DUMP_GTID | REGISTER_SLAVE => return Err(Fault::Foreign),
            CHANGE_USER | RESET_CONNECTION => {
                self.prepared.clear();
                self.last = None;
                if command == CHANGE_USER { Expected::Login } else { Expected::Simple }
            }
            command if is_command(command) => Expected::Simple,
            _ => return Err(Fault::Lost),
        };
        if self.in_flight.len() >= IN_FLIGHT {
            return Err(Fault::Lost);
        }
        self.in_flight.push_back(Command { expected, sent: at, statements, results: 0, runs });
        Ok(())
    }

    /// Takes a packet of the server.
    pub(super) fn server(&mut self, frame: Frame<'_>, at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let Some(command) = self.in_flight.front_mut() else {
            // A server that closes an idle connection may say why; columns may have an end behind them.
            return if self.response.is_late_end(frame) { Ok(()) } else { Err(Fault::Lost) };
        };
        let step = self.response.packet(command.expected, frame)?;
        let (rows, failed, has_more) = match step {
            Step::Continues => return Ok(()),
            Step::Prepared { number, is_complete } => {
                if self.prepared.len() < PREPARED {
                    self.prepared.insert(number, command.statements.clone());
                }
                if is_complete {
                    self.in_flight.pop_front();
                    self.ended = at;
                }
                return Ok(());
            }
            Step::Result { rows, has_more } => (rows, false, has_more),
            Step::Failed => (0, true, false),
        };
        if command.runs {
            let number = command.results.min(command.statements.len().saturating_sub(1));
            let statement = command.statements.get(number).copied().unwrap_or(StatementId::UNSEEN);
            // A procedure has several results.
            let is_call = command.results < command.statements.len().max(1);
            let time = at.saturating_sub(self.ended.max(command.sent));
            sink.completed.push(Completed { statement, is_call, time, rows, failed });
        }
        command.results += 1;
        self.ended = at;
        if !has_more {
            self.in_flight.pop_front();
        }
        Ok(())
    }
}

/// Returns the statements of a query. MySQL 8 may put attributes before the text.
fn query(content: &[u8], frame: Frame<'_>, sink: &mut Sink<'_>) -> Arc<[StatementId]> {
    let text = match content {
        [0, 1, text @ ..] => text,
        [1..=0x1f, 1, ..] => return Arc::from([StatementId::UNSEEN]),
        text => text,
    };
    sink.catalogue.sql(text, Dialect::MySql, frame.length > frame.content.len())
}
