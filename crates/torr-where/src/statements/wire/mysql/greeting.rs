//! The beginning of a connection to MySQL: what both sides can do, and the login.

use super::super::cursor::Cursor;
use super::super::event::Fault;
use super::super::frame::Frame;

/// Capabilities that change what follows.
const COMPRESS: u64 = 1 << 5;
const TLS: u64 = 1 << 11;
const COMPRESS_ZSTD: u64 = 1 << 26;

/// The bytes of a client's packet that asks for TLS and has no login.
const TLS_REQUEST: usize = 32;

/// What was seen of the beginning.
#[derive(Debug, Default)]
pub(super) struct Greeting {
    /// The capabilities of the server, once it has greeted.
    server: Option<u64>,
    /// Whether the client has answered.
    is_answered: bool,
}

impl Greeting {
    /// Takes a packet of the server, and returns whether the client is logged in.
    pub(super) fn server(&mut self, frame: Frame<'_>) -> Result<bool, Fault> {
        if self.server.is_none() {
            self.server = Some(capabilities(frame.content).ok_or(Fault::Lost)?);
            return Ok(false);
        }
        match frame.content.first() {
            Some(0) if self.is_answered => Ok(true),
            // Another method, or more data, or a refusal.
            Some(1 | 0xfe | 0xff) if self.is_answered => Ok(false),
            _ => Err(Fault::Lost),
        }
    }

    /// Takes a packet of the client.
    pub(super) fn client(&mut self, frame: Frame<'_>) -> Result<(), Fault> {
        let Some(server) = self.server else { return Err(Fault::Lost) };
        if self.is_answered {
            return Ok(());
        }
        self.is_answered = true;
        let client = Cursor(frame.content).little_endian(4).ok_or(Fault::Lost)?;
        if client & TLS != 0 && frame.length == TLS_REQUEST {
            return Err(Fault::Encrypted);
        }
        if client & server & (COMPRESS | COMPRESS_ZSTD) != 0 {
            return Err(Fault::Compressed);
        }
        Ok(())
    }
}

/// Returns the capabilities that a server names in its greeting.
fn capabilities(content: &[u8]) -> Option<u64> {
    let mut content = Cursor(content);
    if content.byte()? != 10 {
        return None;
    }
    content.text()?;
    content.bytes(13)?;
    let low = content.little_endian(2)?;
    content.bytes(3)?;
    Some(low | content.little_endian(2)? << 16)
}
