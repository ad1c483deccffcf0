//! Any protocol over TLS.

use crate::failures;
use crate::request::Cursor;
use crate::session::{Asked, Session, Told};
use std::cell::RefCell;
use std::rc::Rc;
use torr_gauge::Failure;
use torr_gauge::collector::FirstAnswer;
use torr_net::Nanos;
use torr_net::tls::{Secured, TlsClient, TlsConfig};

/// A session whose bytes go through TLS.
#[derive(Debug)]
pub struct SecuredSession<S> {
    tls: TlsClient,
    inner: S,
    shared: Rc<RefCell<Scratch>>,
    /// Why the connection could not even begin.
    failed: Option<Failure>,
}

/// Plaintext of the connection that is being worked on; all of a thread share it.
#[derive(Debug, Default)]
struct Scratch {
    received: Vec<u8>,
    /// How much of that has been read.
    read: usize,
    to_send: Vec<u8>,
}

/// What one thread's secured sessions have in common.
pub(crate) struct TlsFor {
    client: TlsClient,
    shared: Rc<RefCell<Scratch>>,
}

impl TlsFor {
    pub fn new(config: &TlsConfig) -> Self {
        Self { client: config.client(), shared: Rc::default() }
    }

    /// A session whose bytes go through TLS.
    pub fn session<S: Session>(&self, inner: S) -> SecuredSession<S> {
        SecuredSession { tls: self.client.another(), inner, shared: Rc::clone(&self.shared), failed: None }
    }
}

impl<S: Session> SecuredSession<S> {
    fn seal(&mut self, scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<(), Failure> {
        if scratch.to_send.is_empty() {
            return Ok(());
        }
        let sent = self.tls.send(&scratch.to_send, out).map_err(failures::tls);
        scratch.to_send.clear();
        sent
    }
}

impl<S: Session> Session for SecuredSession<S> {
    const HOLDS: bool = true;
    const KEYED: bool = S::KEYED;
    type Shared = S::Shared;

    fn open(&mut self, out: &mut Vec<u8>) {
        self.failed = self.tls.open(out).err().map(failures::tls);
    }

    fn is_securing(&self) -> bool {
        self.tls.is_securing()
    }

    fn secured(&self) -> Option<Secured> {
        self.tls.secured()
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.inner.has_room() && !self.tls.is_closed()
    }

    #[inline]
    fn is_leaving(&self) -> bool {
        self.tls.is_closed() || self.inner.is_leaving()
    }

    #[inline]
    fn start(&mut self, key: u32, cursor: &mut Cursor<'_>, _out: &mut Vec<u8>) -> bool {
        self.inner.start(key, cursor, &mut self.shared.borrow_mut().to_send)
    }

    #[inline]
    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        let shared = Rc::clone(&self.shared);
        let scratch = &mut *shared.borrow_mut();
        self.inner.flush(&mut scratch.to_send)?;
        self.seal(scratch, out)
    }

    fn receive(
        &mut self,
        inner_shared: &mut S::Shared,
        input: &mut [u8],
        at: Nanos,
        asked: Asked,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<Told>), Failure> {
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        let shared = Rc::clone(&self.shared);
        let scratch = &mut *shared.borrow_mut();
        if !input.is_empty() {
            let was_securing = self.tls.is_securing();
            scratch.read = 0;
            scratch.received.clear();
            self.tls.receive(input, out, &mut scratch.received).map_err(failures::tls)?;
            if was_securing && !self.tls.is_securing() {
                self.inner.open(&mut scratch.to_send);
            }
        }
        let rest = &mut scratch.received[scratch.read..];
        let told = if rest.is_empty() && !S::HOLDS {
            None
        } else {
            let received = self.inner.receive(inner_shared, rest, at, asked, &mut scratch.to_send);
            if received.is_err() {
                // It may have said why. If that can't be sealed, it is of no use, and must not reach another connection.
                let _ = self.seal(scratch, out);
            }
            let (used, told) = received?;
            scratch.read += used;
            told
        };
        self.seal(scratch, out)?;
        Ok((input.len(), told))
    }

    fn lost(&mut self) {
        self.inner.lost();
    }

    fn end(&mut self) -> Result<Option<Told>, Failure> {
        if self.tls.is_securing() {
            return Ok(None);
        }
        match self.inner.end()? {
            Some(_) if !self.tls.is_closed() => Err(failures::cut_off()),
            told => Ok(told),
        }
    }

    fn first_answer(&mut self) -> Option<FirstAnswer> {
        self.inner.first_answer()
    }

    fn cancel(&mut self, key: u32, out: &mut Vec<u8>) -> bool {
        let shared = Rc::clone(&self.shared);
        let scratch = &mut *shared.borrow_mut();
        self.inner.cancel(key, &mut scratch.to_send) && self.seal(scratch, out).is_ok()
    }
}
