//! The response to one command of MySQL, packet by packet to its end.
//!
//! Whether results have an end behind their columns (an `EOF` packet) is agreed on when the connection begins. Both kinds can be
//! distinguished by their length, so that a connection can be read from its middle.

use super::super::cursor::Cursor;
use super::super::event::Fault;
use super::super::frame::Frame;
use super::packet::LONGEST;

/// The most columns of a result.
const COLUMNS: u64 = 4096;

/// Flags of the server's state.
const MORE_RESULTS: u64 = 1 << 3;
const CURSOR: u64 = 1 << 6;

/// The length of an `EOF` packet.
const EOF: usize = 5;

/// What a command expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Results: of each the number of changed rows, or columns and rows.
    Result,
    /// The number of a prepared statement, and definitions.
    Prepared,
    /// Rows up to their end.
    Rows,
    /// One packet that says whether the command succeeded.
    Simple,
    /// One packet of any content.
    Anything,
    /// Packets of a login.
    Login,
}

/// What a packet means for its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// More packets follow.
    Continues,
    /// The number of the prepared statement, and whether no definitions follow.
    Prepared { number: u64, is_complete: bool },
    /// A result is complete; more of them may follow.
    Result { rows: u64, has_more: bool },
    /// The server refused the command.
    Failed,
}

/// The part of the response that is next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    #[default]
    First,
    /// This many definitions of columns.
    Columns(u64),
    /// The end of the columns, or the first row.
    ColumnsEnd,
    /// This many definitions behind a prepared statement.
    Definitions(u64),
    /// Rows, of which this many were seen.
    Rows(u64),
}

/// The state of a response.
#[derive(Debug, Default)]
pub(super) struct Response {
    part: Part,
    /// The number of the next packet; `None` before the first one.
    number: Option<u8>,
    /// The number of a packet that may end the definitions of a prepared statement, although nothing waits for it.
    late_end: Option<u8>,
}

impl Response {
    /// Notes the number of a packet that continues the one before.
    pub(super) fn continued(&mut self, number: u8) {
        self.number = Some(number.wrapping_add(1));
    }

    /// Notes data that the client sends within a response.
    pub(super) fn client_data(&mut self, number: u8) -> Result<(), Fault> {
        if self.number.is_none_or(|expected| expected == number) && self.part == Part::First {
            self.number = Some(number.wrapping_add(1));
            return Ok(());
        }
        Err(Fault::Lost)
    }

    /// Returns whether a packet for which no command waits is the end of definitions, or the last word of the server.
    pub(super) fn is_late_end(&mut self, frame: Frame<'_>) -> bool {
        let is_end = is_eof(frame) && self.late_end.take() == Some(frame.header[3]);
        is_end || frame.content.first() == Some(&0xff)
    }

    /// Takes a packet of the response to the command in front.
    pub(super) fn packet(&mut self, expected: Expected, frame: Frame<'_>) -> Result<Step, Fault> {
        let number = frame.header[3];
        let late_end = self.late_end.take();
        if self.number.is_none() && is_eof(frame) && late_end == Some(number) && number != 1 {
            return Ok(Step::Continues);
        }
        if number != self.number.unwrap_or(1) {
            return Err(Fault::Lost);
        }
        self.number = Some(number.wrapping_add(1));
        let step = self.read(expected, frame).ok_or(Fault::Lost)?;
        let is_end = match step {
            Step::Result { has_more, .. } => {
                self.part = Part::First;
                !has_more
            }
            Step::Failed => true,
            Step::Prepared { is_complete, .. } => is_complete,
            Step::Continues => false,
        };
        if is_end {
            self.late_end = self.number.filter(|_| expected == Expected::Prepared);
            self.number = None;
            self.part = Part::First;
        }
        Ok(step)
    }

    fn read(&mut self, expected: Expected, frame: Frame<'_>) -> Option<Step> {
        let first = *frame.content.first()?;
        let done = Some(Step::Result { rows: 0, has_more: false });
        match self.part {
            Part::First => match expected {
                Expected::Anything => done,
                _ if first == 0xff => Some(Step::Failed),
                Expected::Result => self.first_of_result(frame),
                Expected::Prepared => self.prepared(frame),
                Expected::Rows if first == 3 && frame.content.get(1..4) == Some(b"def") => Some(Step::Continues),
                Expected::Rows => self.row(frame, 0),
                Expected::Simple => (first == 0 || first == 0xfe).then_some(Step::Result { rows: 0, has_more: false }),
                Expected::Login => match first {
                    0 => done,
                    1 | 0xfe => Some(Step::Continues),
                    _ => None,
                },
            },
            Part::Columns(left) => {
                self.part = if left > 1 { Part::Columns(left - 1) } else { Part::ColumnsEnd };
                is_definition(frame).then_some(Step::Continues)
            }
            Part::ColumnsEnd => {
                if !is_eof(frame) {
                    return self.row(frame, 0);
                }
                let state = Cursor(&frame.content[3..]).little_endian(2)?;
                if state & CURSOR != 0 {
                    return Some(Step::Result { rows: 0, has_more: state & MORE_RESULTS != 0 });
                }
                self.part = Part::Rows(0);
                Some(Step::Continues)
            }
            // Between those of the parameters and those of the columns there may be an end.
            Part::Definitions(_) if is_eof(frame) => Some(Step::Continues),
            Part::Definitions(left) if is_definition(frame) => {
                self.part = Part::Definitions(left.saturating_sub(1));
                if left > 1 { Some(Step::Continues) } else { done }
            }
            Part::Definitions(_) => None,
            Part::Rows(rows) => self.row(frame, rows),
        }
    }

    /// Reads the first packet of a result.
    fn first_of_result(&mut self, frame: Frame<'_>) -> Option<Step> {
        let mut content = Cursor(frame.content);
        match *frame.content.first()? {
            0 => {
                content.byte()?;
                let rows = content.variable()?;
                content.variable()?;
                let state = content.little_endian(2)?;
                return Some(Step::Result { rows, has_more: state & MORE_RESULTS != 0 });
            }
            // The server asks for a file of the client.
            0xfb => return Some(Step::Continues),
            _ => {}
        }
        let columns = content.variable().filter(|columns| (1..=COLUMNS).contains(columns))?;
        // MariaDB need not send the columns of a statement again, and says whether it does.
        self.part = match content.0 {
            [] | [1] => Part::Columns(columns),
            [0] => Part::ColumnsEnd,
            _ => return None,
        };
        Some(Step::Continues)
    }

    /// Reads the first packet behind a prepared statement.
    fn prepared(&mut self, frame: Frame<'_>) -> Option<Step> {
        let mut content = Cursor(frame.content);
        if content.byte()? != 0 {
            return None;
        }
        let number = content.little_endian(4)?;
        let definitions = content.little_endian(2)? + content.little_endian(2)?;
        self.part = Part::Definitions(definitions);
        Some(Step::Prepared { number, is_complete: definitions == 0 })
    }

    /// Reads a row, or the end of the rows, or what stands for both.
    fn row(&mut self, frame: Frame<'_>, rows: u64) -> Option<Step> {
        let mut content = Cursor(frame.content);
        match content.byte()? {
            0xff => Some(Step::Failed),
            // A row that begins like this has 16 MiB or more.
            0xfe if frame.length < LONGEST => {
                if frame.length == EOF {
                    content.bytes(2)?;
                } else {
                    content.variable()?;
                    content.variable()?;
                }
                let state = content.little_endian(2)?;
                Some(Step::Result { rows, has_more: state & MORE_RESULTS != 0 })
            }
            _ => {
                self.part = Part::Rows(rows + 1);
                Some(Step::Continues)
            }
        }
    }
}

/// Returns whether a packet ends columns or rows where both sides have not agreed on anything newer.
fn is_eof(frame: Frame<'_>) -> bool {
    frame.length == EOF && frame.content.first() == Some(&0xfe)
}

/// Returns whether a packet defines a column or a parameter.
fn is_definition(frame: Frame<'_>) -> bool {
    frame.content.starts_with(b"\x03def")
}
