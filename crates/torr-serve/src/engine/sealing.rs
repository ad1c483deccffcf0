//! TLS between the sockets and HTTP.

use super::*;
use torr_net::tls::{TlsError, TlsServer};

/// The answer to who speaks plain HTTP where TLS is spoken.
const NO_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\
    Connection: close\r\n\r\nThis port speaks TLS: use https\n";

impl Connection {
    /// Whether the handshake is still under way.
    #[inline]
    pub(super) fn is_securing(&self) -> bool {
        self.secure.as_ref().is_some_and(|secure| secure.is_securing())
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
            let made = make_ready(&mut self.body, &mut self.unsent);
            self.http.sent(self.unsent.len());
            return made;
        };
        plain.clear();
        let made = make_ready(&mut self.body, plain);
        self.http.sent(plain.len());
        match plain.is_empty() || secure.send(plain, &mut self.unsent).is_ok() {
            true => made,
            false => Made::Short,
        }
    }

    /// Tells a client that nothing was cut off. If there is no room for that now, it does without.
    pub(super) fn take_leave(&mut self) {
        if let Some(secure) = &mut self.secure {
            let mut last = Vec::new();
            secure.end(&mut last);
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
            secure.end(out);
            next
        }
        (Ok(()), next) => next,
        // The keys are used up.
        (Err(_), _) => Next::Close,
    }
}

/// What there is to do where a client does not speak TLS as it should. What it is told is in `out` already, unless it
/// speaks plain HTTP.
#[cold]
pub(super) fn refuse(error: &TlsError, first: Option<u8>, out: &mut Vec<u8>, start: usize) -> Next {
    tracing::debug!(%error, "a connection is not secured");
    if *error == TlsError::ClientNoTls && first.is_some_and(|byte| byte.is_ascii_uppercase()) {
        out.truncate(start);
        out.extend_from_slice(NO_TLS);
    }
    Next::CloseGently
}

/// Puts the next piece of a long body into an empty buffer. Leaves it empty at the body's end.
fn make_ready(body: &mut Option<Long>, buffer: &mut Vec<u8>) -> Made {
    let pieces = match body {
        None => return Made::Ready,
        Some(Long::Stream(stream)) => return stream.fill(buffer),
        Some(Long::Pieces(pieces)) => pieces,
    };
    while pieces.length > 0 && buffer.len() < PIECE {
        // A panic is the handler's failure; what it leaves behind is the handler's own state only.
        let next = catch_unwind(AssertUnwindSafe(|| pieces.next.next()));
        let Ok(Some(piece)) = next else { return Made::Short };
        let fits = piece.len().min(usize::try_from(pieces.length).unwrap_or(usize::MAX));
        buffer.extend_from_slice(&piece[..fits]);
        pieces.length -= fits as u64;
    }
    Made::Ready
}
