//! Requests in flight to PostgreSQL, and the responses that end them.

use super::super::cursor::Cursor;
use super::super::event::{Completed, Fault, StatementId};
use super::super::frame::Frame;
use super::super::sink::{IN_FLIGHT, Sink};
use crate::statements::normalise::Dialect;
use crate::statements::normalise::sql::INPUT;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The most prepared statements, or portals, of a connection whose texts are kept. Further ones have no text.
const NAMES: usize = 4096;

/// A request whose response is not complete.
#[derive(Debug)]
enum Request {
    /// `Parse`, with the name that it gives.
    Parse(Vec<u8>),
    Bind,
    Describe,
    Close,
    /// `Execute`, and whether it is the portal's first.
    Execute(StatementId, bool),
    /// A text with statements, of which some are complete.
    Query(Arc<[StatementId]>, usize),
    Function,
    Sync,
}

/// The requests and names of a connection.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Whether the server has not accepted the client yet.
    is_starting: bool,
    in_flight: VecDeque<(Request, u64)>,
    prepared: HashMap<Vec<u8>, StatementId>,
    /// Of each portal the statement, and whether it was executed.
    portals: HashMap<Vec<u8>, (StatementId, bool)>,
    /// Whether the server ignores all requests up to `Sync`.
    is_skipping: bool,
    /// When the last statement ended.
    ended: u64,
    /// The rows of the current result.
    rows: u64,
}

impl Exchange {
    pub(super) fn new(is_starting: bool) -> Self {
        Self {
            is_starting,
            in_flight: VecDeque::new(),
            prepared: HashMap::new(),
            portals: HashMap::new(),
            is_skipping: false,
            ended: 0,
            rows: 0,
        }
    }

    /// Takes a message of the client.
    pub(super) fn client(&mut self, frame: Frame<'_>, at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let kind = frame.header[0];
        if self.is_skipping && kind != b'S' {
            return if kind == b'Q' { Err(Fault::Lost) } else { Ok(()) };
        }
        let mut content = Cursor(frame.content);
        let request = match kind {
            b'Q' => Request::Query(sql(content.0, frame, sink), 0),
            b'P' => {
                let name = content.text().ok_or(Fault::Lost)?.to_vec();
                let statement = sql(content.0, frame, sink)[0];
                insert(&mut self.prepared, name.clone(), statement);
                Request::Parse(name)
            }
            b'B' => {
                let portal = content.text().ok_or(Fault::Lost)?.to_vec();
                let name = content.text().ok_or(Fault::Lost)?;
                let statement = self.prepared.get(name).copied().unwrap_or(StatementId::UNSEEN);
                insert(&mut self.portals, portal, (statement, false));
                Request::Bind
            }
            b'E' => {
                let portal = content.text().ok_or(Fault::Lost)?;
                let mut unseen = (StatementId::UNSEEN, false);
                let (statement, is_executed) = self.portals.get_mut(portal).unwrap_or(&mut unseen);
                Request::Execute(*statement, !std::mem::replace(is_executed, true))
            }
            b'D' => Request::Describe,
            b'C' => {
                let kind = content.byte().ok_or(Fault::Lost)?;
                let name = content.text().ok_or(Fault::Lost)?;
                if kind == b'S' {
                    self.prepared.remove(name);
                } else {
                    self.portals.remove(name);
                }
                Request::Close
            }
            b'F' => Request::Function,
            b'S' => {
                self.is_skipping = false;
                Request::Sync
            }
            // Passwords, data of COPY, a flush and the end have no responses of their own.
            _ => return Ok(()),
        };
        if self.in_flight.len() >= IN_FLIGHT {
            return Err(Fault::Lost);
        }
        self.in_flight.push_back((request, at));
        Ok(())
    }

    /// Takes a message of the server.
    pub(super) fn server(&mut self, frame: Frame<'_>, at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let kind = frame.header[0];
        if self.is_starting {
            self.is_starting = kind != b'Z';
            return Ok(());
        }
        let front = self.in_flight.front_mut().map(|(request, _)| request);
        match (kind, front) {
            // Notices, notifications and parameters come at any time.
            (b'N' | b'A' | b'S', _) => {}
            (b'1', Some(Request::Parse(_)))
            | (b'2', Some(Request::Bind))
            | (b'3', Some(Request::Close))
            | (b'T' | b'n', Some(Request::Describe)) => {
                self.in_flight.pop_front();
            }
            (b't', Some(Request::Describe)) | (b'T' | b'V', Some(Request::Query(..) | Request::Function)) => {}
            (b'G' | b'H' | b'W' | b'c' | b'd', Some(Request::Query(..) | Request::Execute(..))) => {}
            (b'D', Some(Request::Query(..) | Request::Execute(..))) => self.rows += 1,
            (b'C' | b'I' | b's', Some(Request::Query(..) | Request::Execute(..))) => {
                self.complete(frame, at, sink)?;
            }
            (b'E', Some(_)) => self.fail(at, sink),
            // The server says why it closes an idle connection.
            (b'E', None) => {}
            (b'Z', Some(Request::Sync | Request::Query(..) | Request::Function)) => {
                self.in_flight.pop_front();
                self.ended = at;
            }
            _ => return Err(Fault::Lost),
        }
        Ok(())
    }

    /// Ends the statement in front.
    fn complete(&mut self, frame: Frame<'_>, at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let Some((request, sent)) = self.in_flight.front_mut() else { return Err(Fault::Lost) };
        let (statement, is_call, is_query) = match request {
            Request::Execute(statement, is_first) => (*statement, *is_first, false),
            Request::Query(statements, complete) => {
                let statement = statements.get(*complete).copied().unwrap_or(StatementId::UNSEEN);
                *complete += 1;
                (statement, true, true)
            }
            _ => return Err(Fault::Lost),
        };
        let tag = frame.content.strip_suffix(&[0]).unwrap_or(frame.content);
        if frame.header[0] == b'C' && contradicts(sink.catalogue.text(statement).as_str(), tag) {
            return Err(Fault::Lost);
        }
        let time = at.saturating_sub(self.ended.max(*sent));
        let rows = if self.rows > 0 { self.rows } else { changed(tag) };
        sink.completed.push(Completed { statement, is_call, time, rows, failed: false });
        self.ended = at;
        self.rows = 0;
        if !is_query {
            self.in_flight.pop_front();
        }
        Ok(())
    }

    /// Ends the request in front, which the server refused, and with it all up to the next `Sync`.
    fn fail(&mut self, at: u64, sink: &mut Sink<'_>) {
        let sent = self.in_flight.front().map_or(at, |(_, sent)| *sent);
        let time = at.saturating_sub(self.ended.max(sent));
        let mut failed = |statement, is_call| {
            sink.completed.push(Completed { statement, is_call, time, rows: 0, failed: true });
        };
        self.ended = at;
        self.rows = 0;
        match self.in_flight.front_mut() {
            // `ReadyForQuery` ends it.
            Some((Request::Query(statements, complete), _)) => {
                failed(statements.get(*complete).copied().unwrap_or(StatementId::UNSEEN), true);
                *complete = statements.len();
                return;
            }
            Some((Request::Function, _)) => return,
            Some((Request::Execute(statement, is_first), _)) => failed(*statement, *is_first),
            // A deferred constraint may fail at `Sync`, which `ReadyForQuery` ends then.
            Some((Request::Sync, _)) => return,
            _ => {}
        }
        self.is_skipping = true;
        while let Some((request, _)) = self.in_flight.front() {
            match request {
                Request::Sync => {
                    self.is_skipping = false;
                    return;
                }
                Request::Parse(name) => {
                    self.prepared.remove(name);
                }
                _ => {}
            }
            self.in_flight.pop_front();
        }
    }
}

/// Inserts a value, unless there are too many.
fn insert<V>(names: &mut HashMap<Vec<u8>, V>, name: Vec<u8>, value: V) {
    if names.len() < NAMES || names.contains_key(&name) {
        names.insert(name, value);
    }
}

/// Returns the statements of a text that ends with a zero byte, or is cut.
fn sql(text: &[u8], frame: Frame<'_>, sink: &mut Sink<'_>) -> Arc<[StatementId]> {
    let is_cut = frame.length > frame.content.len();
    let end = memchr::memchr(0, text).unwrap_or(text.len()).min(INPUT);
    sink.catalogue.sql(&text[..end], Dialect::Postgres, is_cut)
}

/// Returns the number of rows in the tag of a completed command, such as `INSERT 0 5`.
fn changed(tag: &[u8]) -> u64 {
    let number = tag.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
    std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Returns whether the tag of a completed command is that of another statement.
fn contradicts(text: &str, tag: &[u8]) -> bool {
    const VERBS: [&str; 4] = ["SELECT", "INSERT", "UPDATE", "DELETE"];
    let verb = |text: &[u8]| {
        let begins =
            |verb: &&str| text.get(..verb.len()).is_some_and(|word| word.eq_ignore_ascii_case(verb.as_bytes()));
        VERBS.iter().position(begins)
    };
    matches!((verb(text.as_bytes()), verb(tag)), (Some(text), Some(tag)) if text != tag)
}
