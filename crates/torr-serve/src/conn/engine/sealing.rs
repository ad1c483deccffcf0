//! TLS between the sockets and HTTP.

use super::*;
use torr_net::tls::{TlsError, TlsServer};

/// The answer to who speaks plain HTTP where TLS is spoken.
const NO_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\
    Connection: close\r\n\r\nThis port speaks TLS: use https\n";

impl Connection {
    /// Whether the handshake is still under way.
    #[inline]
    pub(super) fn is_handshaking(&self) -> bool {
        self.secure.as_ref().is_some_and(|secure| secure.is_handshaking())
    }

    /// Whether the client has said by TLS that nothing more will come. It may keep the socket open, to be answered.
    #[inline]
    pub(super) fn has_said_all(&self) -> bool {
        self.secure.as_ref().is_some_and(|secure| secure.is_closed())
    }

    /// Encrypts what stands in `out` from `start` on. Gives what is to follow.
    #[inline]
    pub(super) fn seal(&mut self, out: &mut Vec<u8>, start: usize, plain: &mut Vec<u8>, next: Next) -> Next {
        match &mut self.secure {
            None => next,
            Some(secure) => seal(secure, out, start, plain, next),
        }
    }

    /// Puts the next piece of a long body into an empty buffer, encrypted where that is asked for.
    pub(super) fn make_ready(&mut self, plain: &mut Vec<u8>) -> Made {
        let Some(secure) = &mut self.secure else {
            let (made, carried) = make_ready(&mut self.body, &mut self.unsent);
            self.http.sent(carried);
            return made;
        };
        plain.clear();
        let (made, carried) = make_ready(&mut self.body, plain);
        self.http.sent(carried);
        match plain.is_empty() || secure.send(plain, &mut self.unsent).is_ok() {
            true => made,
            false => Made::Short,
        }
    }

    /// Tells a client that nothing was cut off, where nothing was. If there is no room for that now, it does without.
    pub(super) fn take_leave(&mut self) {
        if let Some(secure) = &mut self.secure
            && self.unsent.is_empty()
            && self.body.is_none()
        {
            let mut last = Vec::new();
            secure.close_notify(&mut last);
            let _ = socket::send(&self.socket, &last);
        }
    }
}

fn seal(secure: &mut TlsServer, out: &mut Vec<u8>, start: usize, plain: &mut Vec<u8>, next: Next) -> Next {
    let mut sealed = Ok(());
    if out.len() > start {
        plain.clear();
        plain.extend_from_slice(&out[start..]);
        out.truncate(start);
        sealed = secure.send(plain, out);
    }
    match (sealed, next) {
        (Ok(()), next @ (Next::Close | Next::CloseGently)) => {
            secure.close_notify(out);
            next
        }
        (Ok(()), next) => next,
        // The keys are used up.
        (Err(_), _) => Next::Close,
    }
}

/// What there is to do where a client does not speak TLS as it should. What it is told is in `out` already, unless it
/// never spoke TLS: then it most likely speaks plain HTTP, and an alert would tell it nothing.
#[cold]
pub(super) fn refuse(error: &TlsError, securing: bool, out: &mut Vec<u8>, start: usize) -> Next {
    tracing::debug!(%error, "a connection is not secured");
    if *error == TlsError::ClientNoTls && securing {
        out.truncate(start);
        out.extend_from_slice(NO_TLS);
    }
    Next::CloseGently
}

/// Puts the next piece of a long body into an empty buffer. Leaves it empty at the body's end. Gives how much of the body
/// that is, without its framing.
fn make_ready(body: &mut Option<Long>, buffer: &mut Vec<u8>) -> (Made, u64) {
    let pieces = match body {
        None => return (Made::Ready, 0),
        Some(Long::Stream(stream)) => {
            let made = stream.fill(buffer);
            return (made, stream.take_carried());
        }
        Some(Long::Pieces(pieces)) => pieces,
    };
    while buffer.len() < PIECE
        && let Some(piece) = pieces.take()
    {
        let Ok(piece) = piece else { return (Made::Short, buffer.len() as u64) };
        buffer.extend_from_slice(&piece);
    }
    (Made::Ready, buffer.len() as u64)
}
