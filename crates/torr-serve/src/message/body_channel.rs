//! A request's body on its way from the engine to its handler, piece by piece and with backpressure.

use crate::message::body_error::BodyError;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
#[cfg(feature = "http3")]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

/// The number of bytes in the channel at which no more are received, and the number at which receiving goes on.
const HIGH_WATER: usize = 256 * 1024;
const LOW_WATER: usize = 64 * 1024;
/// The number of bytes in all channels of a connection of HTTP/3 at which only empty ones receive more.
#[cfg(feature = "http3")]
const MOST_TOGETHER: usize = 1024 * 1024;
/// The size up to which small pieces are put together: a client decides how small they are, and each takes memory of its own.
const SMALL: usize = 4 * 1024;

/// The engine's end of the channel.
#[derive(Debug)]
pub(crate) struct BodySender(Arc<Channel>);

/// The handler's end of the channel.
#[derive(Debug)]
pub(crate) struct BodyReceiver {
    channel: Arc<Channel>,
    /// The number of bytes to come, if it is known.
    left: Option<u64>,
}

/// The number of bytes in all channels of one connection.
#[cfg(feature = "http3")]
#[derive(Debug, Default)]
pub(crate) struct Held(AtomicUsize);

#[derive(Debug)]
struct Channel {
    state: Mutex<State>,
    /// The channels of the same connection, if it has several.
    #[cfg(feature = "http3")]
    all: Option<Arc<Held>>,
    /// Wakes the engine up, so that it continues.
    engine: Waker,
}

#[derive(Debug, Default)]
struct State {
    pieces: VecDeque<BytesMut>,
    /// The number of bytes in `pieces`.
    held: usize,
    end: Option<Result<(), BodyError>>,
    /// No more is received until the handler has taken most of the pieces.
    has_backpressure: bool,
    /// Whether the handler has polled the empty channel.
    is_wanted: bool,
    /// The handler has dropped its end.
    is_abandoned: bool,
    /// The engine is to be woken up when there is room, or when the body is wanted or abandoned.
    engine_waits: bool,
    handler: Option<Waker>,
}

/// Returns both ends of a channel for a body of this length, if it is known. `engine` is woken up when the engine waits.
pub(crate) fn body_channel(length: Option<u64>, engine: Waker) -> (BodySender, BodyReceiver) {
    both_ends(length, Channel::new(engine))
}

/// Returns both ends of a channel, as [`body_channel`] does, on a connection that has several.
#[cfg(feature = "http3")]
pub(crate) fn body_channel_within(length: Option<u64>, engine: Waker, all: Arc<Held>) -> (BodySender, BodyReceiver) {
    both_ends(length, Channel { all: Some(all), ..Channel::new(engine) })
}

fn both_ends(length: Option<u64>, channel: Channel) -> (BodySender, BodyReceiver) {
    let channel = Arc::new(channel);
    (BodySender(Arc::clone(&channel)), BodyReceiver { channel, left: length })
}

impl Channel {
    fn new(engine: Waker) -> Self {
        Self {
            state: Mutex::default(),
            #[cfg(feature = "http3")]
            all: None,
            engine,
        }
    }

    /// Notes bytes that came, and bytes that are gone.
    #[cfg(feature = "http3")]
    fn count(&self, came: usize, gone: usize) {
        if let Some(all) = &self.all {
            all.0.fetch_add(came, Ordering::Relaxed);
            all.0.fetch_sub(gone, Ordering::Relaxed);
        }
    }

    #[cfg(not(feature = "http3"))]
    fn count(&self, _came: usize, _gone: usize) {}

    /// Whether the channels of the connection hold as much as they may.
    #[cfg(feature = "http3")]
    fn is_full_together(&self) -> bool {
        self.all.as_ref().is_some_and(|all| all.0.load(Ordering::Relaxed) >= MOST_TOGETHER)
    }

    #[cfg(not(feature = "http3"))]
    fn is_full_together(&self) -> bool {
        false
    }

    /// The state is consistent at each step, so that a panic does no harm.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_engine(&self, mut state: MutexGuard<'_, State>) {
        let waits = std::mem::take(&mut state.engine_waits);
        drop(state);
        if waits {
            self.engine.wake_by_ref();
        }
    }

    fn wake_handler(mut state: MutexGuard<'_, State>) {
        let handler = state.handler.take();
        drop(state);
        handler.into_iter().for_each(Waker::wake);
    }
}

impl BodySender {
    /// Passes a piece on, or drops it where the handler does not want it.
    pub fn push(&self, piece: &[u8]) {
        let mut state = self.0.lock();
        if !state.is_abandoned && state.end.is_none() {
            state.held += piece.len();
            self.0.count(piece.len(), 0);
            match state.pieces.back_mut() {
                Some(last) if last.len() + piece.len() <= SMALL => last.extend_from_slice(piece),
                _ => state.pieces.push_back(piece.into()),
            }
            Channel::wake_handler(state);
        }
    }

    /// Ends the body, unless it has ended before.
    pub fn end(&self, how: Result<(), BodyError>) {
        let mut state = self.0.lock();
        state.end.get_or_insert(how);
        Channel::wake_handler(state);
    }

    /// Whether there is room for more. If not, the engine is woken up when there is.
    pub fn has_room(&self) -> bool {
        let mut state = self.0.lock();
        let most = if state.has_backpressure { LOW_WATER } else { HIGH_WATER };
        let is_full = state.held >= most || state.held > 0 && self.0.is_full_together();
        state.has_backpressure = is_full && !state.is_abandoned;
        state.engine_waits |= state.has_backpressure;
        !state.has_backpressure
    }

    /// Whether the handler waits for more. If not, the engine is woken up when it does.
    pub fn is_wanted(&self) -> bool {
        let mut state = self.0.lock();
        state.engine_waits |= !state.is_wanted;
        state.is_wanted
    }

    /// Whether the handler has dropped its end.
    pub fn is_abandoned(&self) -> bool {
        self.0.lock().is_abandoned
    }
}

impl Drop for BodySender {
    /// Tells a handler that still waits that the rest will not come.
    fn drop(&mut self) {
        self.end(Err(BodyError::Cut));
    }
}

impl BodyReceiver {
    /// Returns the next piece, or the reason why there is none, or `None` at the end.
    pub fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        let mut state = self.channel.lock();
        let piece = match state.pieces.pop_front() {
            Some(piece) => piece,
            None => {
                let end = match state.end.clone() {
                    Some(end) => Poll::Ready(end),
                    None => {
                        state.handler = Some(cx.waker().clone());
                        state.is_wanted = true;
                        self.channel.wake_engine(state);
                        Poll::Pending
                    }
                };
                return Poll::Ready(ready!(end).err().map(Err));
            }
        };
        state.held -= piece.len();
        self.channel.count(0, piece.len());
        self.left = self.left.map(|left| left.saturating_sub(piece.len() as u64));
        if state.held < LOW_WATER {
            self.channel.wake_engine(state);
        }
        Poll::Ready(Some(Ok(piece.freeze())))
    }

    /// Whether the body has come to its end.
    pub fn is_ended(&self) -> bool {
        let state = self.channel.lock();
        state.pieces.is_empty() && state.end == Some(Ok(()))
    }

    /// Returns the number of bytes to come, if it is known.
    pub fn left(&self) -> Option<u64> {
        self.left
    }
}

impl Drop for BodyReceiver {
    fn drop(&mut self) {
        let mut state = self.channel.lock();
        state.is_abandoned = true;
        state.pieces = VecDeque::new();
        self.channel.count(0, std::mem::take(&mut state.held));
        self.channel.wake_engine(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_pieces_take_hardly_more_memory_than_their_bytes() {
        let (sender, mut receiver) = body_channel(None, Waker::noop().clone());
        while sender.has_room() {
            sender.push(b"x");
        }
        let (mut pieces, mut bytes) = (0, 0);
        while let Poll::Ready(Some(Ok(piece))) = receiver.poll_piece(&mut Context::from_waker(Waker::noop())) {
            pieces += 1;
            bytes += piece.len();
        }
        assert_eq!((pieces, bytes), (HIGH_WATER / SMALL, HIGH_WATER));
    }

    #[cfg(feature = "http3")]
    #[test]
    fn the_channels_of_a_connection_have_a_bound_together_and_each_has_its_turn() {
        let all = Arc::<Held>::default();
        let mut channels: Vec<_> =
            (0..100).map(|_| body_channel_within(None, Waker::noop().clone(), Arc::clone(&all))).collect();
        let held = || all.0.load(Ordering::Relaxed);
        // As if clients filled one after another.
        for (sender, _) in &channels {
            while sender.has_room() {
                sender.push(&[0; 16 * 1024]);
            }
        }
        assert!((MOST_TOGETHER..MOST_TOGETHER + 100 * 16 * 1024).contains(&held()), "{} bytes", held());
        let (sender, receiver) = &mut channels[99];
        assert!(!sender.has_room());
        while let Poll::Ready(Some(Ok(_))) = receiver.poll_piece(&mut Context::from_waker(Waker::noop())) {}
        assert!(sender.has_room(), "one that is empty receives more");
        drop(channels);
        assert_eq!(held(), 0);
    }
}
