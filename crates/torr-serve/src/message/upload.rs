//! A request's body on its way from the engine to its handler, piece by piece and with back-pressure.

use crate::message::request_body::BodyError;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

/// Bytes that may lie here before no more are received, and at how few receiving goes on.
const FULL: usize = 256 * 1024;
const LOW: usize = 64 * 1024;
/// Up to here small pieces are put together: a client decides how small they are, and each takes memory of its own.
const SMALL: usize = 4 * 1024;

/// The engine's end.
#[derive(Debug)]
pub(crate) struct Intake(Arc<Shared>);

/// The handler's end.
#[derive(Debug)]
pub(crate) struct Incoming {
    shared: Arc<Shared>,
    /// Bytes yet to come, where they are known.
    left: Option<u64>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Tells the engine that it may go on.
    engine: Waker,
}

#[derive(Debug, Default)]
struct State {
    pieces: VecDeque<BytesMut>,
    held: usize,
    end: Option<Result<(), BodyError>>,
    /// No more is received until the handler has taken most of it.
    full: bool,
    /// The handler has asked for more than there was.
    wanted: bool,
    /// The handler has let go of it.
    abandoned: bool,
    /// The engine waits to be told that there is room, that it is wanted or abandoned.
    engine_waits: bool,
    handler: Option<Waker>,
}

/// Both ends of a body of this length, if it is known. `engine` is woken when the engine was found waiting.
pub(crate) fn pair(length: Option<u64>, engine: Waker) -> (Intake, Incoming) {
    let shared = Arc::new(Shared { state: Mutex::default(), engine });
    (Intake(Arc::clone(&shared)), Incoming { shared, left: length })
}

impl Shared {
    /// What a panic may have left is whole at each step.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_engine(&self, mut state: MutexGuard<'_, State>) {
        let waits = std::mem::take(&mut state.engine_waits);
        drop(state);
        if waits {
            self.engine.wake_by_ref();
        }
    }

    fn tell_handler(mut state: MutexGuard<'_, State>) {
        let handler = state.handler.take();
        drop(state);
        handler.into_iter().for_each(Waker::wake);
    }
}

impl Intake {
    /// Passes a piece on, or drops it where nobody wants it.
    pub fn push(&self, piece: &[u8]) {
        let mut state = self.0.lock();
        if !state.abandoned && state.end.is_none() {
            state.held += piece.len();
            match state.pieces.back_mut() {
                Some(last) if last.len() + piece.len() <= SMALL => last.extend_from_slice(piece),
                _ => state.pieces.push_back(piece.into()),
            }
            Shared::tell_handler(state);
        }
    }

    /// Nothing more comes.
    pub fn end(&self, how: Result<(), BodyError>) {
        let mut state = self.0.lock();
        state.end.get_or_insert(how);
        Shared::tell_handler(state);
    }

    /// Whether there is room for more. If not, the engine is told when there is.
    pub fn has_room(&self) -> bool {
        let mut state = self.0.lock();
        let most = if state.full { LOW } else { FULL };
        state.full = state.held >= most && !state.abandoned;
        state.engine_waits |= state.full;
        !state.full
    }

    /// Whether the handler has asked for more. If not, the engine is told when it does.
    pub fn is_wanted(&self) -> bool {
        let mut state = self.0.lock();
        state.engine_waits |= !state.wanted;
        state.wanted
    }

    /// Whether nobody will read the rest.
    pub fn is_abandoned(&self) -> bool {
        self.0.lock().abandoned
    }
}

impl Drop for Intake {
    /// A handler that still waits learns that it does so in vain.
    fn drop(&mut self) {
        self.end(Err(BodyError::Cut));
    }
}

impl Incoming {
    pub fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        let mut state = self.shared.lock();
        let piece = match state.pieces.pop_front() {
            Some(piece) => piece,
            None => {
                let end = match state.end {
                    Some(end) => Poll::Ready(end),
                    None => {
                        state.handler = Some(cx.waker().clone());
                        state.wanted = true;
                        self.shared.tell_engine(state);
                        Poll::Pending
                    }
                };
                return Poll::Ready(ready!(end).err().map(Err));
            }
        };
        state.held -= piece.len();
        self.left = self.left.map(|left| left.saturating_sub(piece.len() as u64));
        if state.held < LOW {
            self.shared.tell_engine(state);
        }
        Poll::Ready(Some(Ok(piece.freeze())))
    }

    /// Whether nothing more will come.
    pub fn is_ended(&self) -> bool {
        let state = self.shared.lock();
        state.pieces.is_empty() && state.end == Some(Ok(()))
    }

    /// Bytes yet to come, where they are known.
    pub fn left(&self) -> Option<u64> {
        self.left
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.abandoned = true;
        state.pieces = VecDeque::new();
        state.held = 0;
        self.shared.tell_engine(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_pieces_take_hardly_more_memory_than_their_bytes() {
        let (intake, mut incoming) = pair(None, Waker::noop().clone());
        while intake.has_room() {
            intake.push(b"x");
        }
        let (mut pieces, mut bytes) = (0, 0);
        while let Poll::Ready(Some(Ok(piece))) = incoming.poll_piece(&mut Context::from_waker(Waker::noop())) {
            pieces += 1;
            bytes += piece.len();
        }
        assert_eq!((pieces, bytes), (FULL / SMALL, FULL));
    }
}
