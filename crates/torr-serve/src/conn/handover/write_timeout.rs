//! A time-out for writes: a client that takes nothing does not hold its connection for ever.

use super::socket_stream::Acknowledged;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The number of looks at what a client has taken in the time of one time-out. The socket has room again only once much of what
/// it holds was taken.
const LOOKS: u32 = 8;

/// A stream on which a write fails during which the client has taken nothing for `timeout`.
pub(super) struct WriteTimeout<T> {
    inner: T,
    timeout: Duration,
    /// The stall of a write that waits.
    stalled: Option<Stall>,
    /// The stall of a flush or the shutdown that waits. A write that succeeds does not end it.
    unsent: Option<Stall>,
}

/// A wait for a client that takes nothing.
struct Stall {
    timer: Pin<Box<Sleep>>,
    /// The time at which the wait began, or the client was last seen to have taken something.
    since: Instant,
    acknowledged: Option<u64>,
}

impl<T> WriteTimeout<T> {
    pub fn new(inner: T, timeout: Duration) -> Self {
        Self { inner, timeout, stalled: None, unsent: None }
    }
}

impl Stall {
    fn begin(timeout: Duration, acknowledged: Option<u64>) -> Self {
        Self { timer: Box::pin(sleep(timeout / LOOKS)), since: Instant::now(), acknowledged }
    }

    /// Is ready once the client has taken nothing for `timeout`.
    fn poll(&mut self, timeout: Duration, of: &impl Acknowledged, cx: &mut Context<'_>) -> Poll<()> {
        while self.timer.as_mut().poll(cx).is_ready() {
            let acknowledged = of.acknowledged();
            if self.acknowledged != acknowledged {
                (self.acknowledged, self.since) = (acknowledged, Instant::now());
            }
            let left = timeout.saturating_sub(self.since.elapsed());
            if left.is_zero() {
                return Poll::Ready(());
            }
            self.timer = Box::pin(sleep(left.min(timeout / LOOKS)));
        }
        Poll::Pending
    }
}

/// Fails once `done` has been pending for `timeout` without the client having taken anything.
fn fail_after<R>(
    done: Poll<io::Result<R>>,
    stall: &mut Option<Stall>,
    timeout: Duration,
    of: &impl Acknowledged,
    cx: &mut Context<'_>,
) -> Poll<io::Result<R>> {
    if done.is_ready() {
        *stall = None;
        return done;
    }
    let stall = stall.get_or_insert_with(|| Stall::begin(timeout, of.acknowledged()));
    stall.poll(timeout, of, cx).map(|()| Err(ErrorKind::TimedOut.into()))
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteTimeout<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Acknowledged + Unpin> AsyncWrite for WriteTimeout<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let done = Pin::new(&mut this.inner).poll_write(cx, bytes);
        fail_after(done, &mut this.stalled, this.timeout, &this.inner, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let done = Pin::new(&mut this.inner).poll_write_vectored(cx, bytes);
        fail_after(done, &mut this.stalled, this.timeout, &this.inner, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let done = Pin::new(&mut this.inner).poll_flush(cx);
        fail_after(done, &mut this.unsent, this.timeout, &this.inner, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let done = Pin::new(&mut this.inner).poll_shutdown(cx);
        fail_after(done, &mut this.unsent, this.timeout, &this.inner, cx)
    }
}
