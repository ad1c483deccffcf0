//! HTTP/1.1 on one connection, pipelined or not.

use crate::failures;
use crate::request::Cursor;
use crate::session::{Answer, Asked, Session, Told};
use std::num::NonZero;
use torr_gauge::Failure;
use torr_net::Nanos;
use torr_wire::response::ResponseReader;

/// HTTP/1.1: answers come in the order of their requests.
#[derive(Debug, Default)]
pub struct Http1 {
    reader: ResponseReader,
    /// When the first byte of an answer came that has not come whole.
    first_byte: Option<NonZero<Nanos>>,
}

impl Session for Http1 {
    const HOLDS: bool = false;
    const KEYED: bool = false;

    fn open(&mut self, _out: &mut Vec<u8>) {
        self.reader.reset();
        self.first_byte = None;
    }

    #[inline]
    fn start(&mut self, _key: u32, cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> bool {
        cursor.write(out).is_head
    }

    #[inline]
    fn receive(
        &mut self,
        input: &mut [u8],
        at: Nanos,
        asked: Asked,
        _out: &mut Vec<u8>,
    ) -> Result<(usize, Option<Told>), Failure> {
        if asked.count == 0 && !input.is_empty() {
            return Err(failures::surplus());
        }
        match self.reader.read(input, asked.to_head) {
            // Nothing may come that was not asked for.
            Ok((used, Some(_))) if used < input.len() && asked.count == 1 => Err(failures::surplus()),
            Ok((used, Some(response))) => {
                let first_byte = self.first_byte.take();
                Ok((used, Some(Told::Answer(Answer { key: 0, first_byte, response, failed_checks: 0 }))))
            }
            Ok((used, None)) => {
                self.first_byte = self.first_byte.or(NonZero::new(at));
                Ok((used, None))
            }
            Err(error) => Err(failures::protocol(error)),
        }
    }

    fn end(&mut self) -> Result<Option<Answer>, Failure> {
        let first_byte = self.first_byte.take();
        let response = self.reader.end().map_err(failures::protocol)?;
        Ok(response.map(|response| Answer { key: 0, first_byte, response, failed_checks: 0 }))
    }
}
