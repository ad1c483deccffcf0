//! A time-out for writes: a client that takes nothing does not hold its connection for ever.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream on which a write fails that could not begin for `timeout`.
pub(super) struct WriteTimeout<T> {
    inner: T,
    timeout: Duration,
    /// The timer that runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
    /// The timer that runs while a flush or the shutdown waits. A write that succeeds does not stop it.
    unsent: Option<Pin<Box<Sleep>>>,
}

impl<T> WriteTimeout<T> {
    pub fn new(inner: T, timeout: Duration) -> Self {
        Self { inner, timeout, stalled: None, unsent: None }
    }
}

/// Fails once `done` has been pending for `timeout`.
fn fail_after<R>(
    done: Poll<io::Result<R>>,
    timer: &mut Option<Pin<Box<Sleep>>>,
    timeout: Duration,
    cx: &mut Context<'_>,
) -> Poll<io::Result<R>> {
    if done.is_ready() {
        *timer = None;
        return done;
    }
    let timer = timer.get_or_insert_with(|| Box::pin(sleep(timeout)));
    timer.as_mut().poll(cx).map(|()| Err(ErrorKind::TimedOut.into()))
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteTimeout<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let done = Pin::new(&mut this.inner).poll_write(cx, bytes);
        fail_after(done, &mut this.stalled, this.timeout, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let done = Pin::new(&mut this.inner).poll_write_vectored(cx, bytes);
        fail_after(done, &mut this.stalled, this.timeout, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let done = Pin::new(&mut this.inner).poll_flush(cx);
        fail_after(done, &mut this.unsent, this.timeout, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let done = Pin::new(&mut this.inner).poll_shutdown(cx);
        fail_after(done, &mut this.unsent, this.timeout, cx)
    }
}
