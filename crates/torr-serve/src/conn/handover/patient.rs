//! Writing with an end to patience: a client that takes nothing does not hold its connection for ever.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection on which a write fails that could not begin for so long.
pub(super) struct Patient<T> {
    inner: T,
    patience: Duration,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Runs while what was taken waits to be sent, or the end. A write that goes well says nothing of these.
    unsent: Option<Pin<Box<Sleep>>>,
}

impl<T> Patient<T> {
    pub fn new(inner: T, patience: Duration) -> Self {
        Self { inner, patience, stalled: None, unsent: None }
    }
}

/// Lets a wait fail that takes too long.
fn minding<R>(
    done: Poll<io::Result<R>>,
    timer: &mut Option<Pin<Box<Sleep>>>,
    patience: Duration,
    cx: &mut Context<'_>,
) -> Poll<io::Result<R>> {
    if done.is_ready() {
        *timer = None;
        return done;
    }
    let timer = timer.get_or_insert_with(|| Box::pin(sleep(patience)));
    timer.as_mut().poll(cx).map(|()| Err(ErrorKind::TimedOut.into()))
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let patient = &mut *self;
        let done = Pin::new(&mut patient.inner).poll_write(cx, bytes);
        minding(done, &mut patient.stalled, patient.patience, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let patient = &mut *self;
        let done = Pin::new(&mut patient.inner).poll_write_vectored(cx, bytes);
        minding(done, &mut patient.stalled, patient.patience, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let patient = &mut *self;
        let done = Pin::new(&mut patient.inner).poll_flush(cx);
        minding(done, &mut patient.unsent, patient.patience, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let patient = &mut *self;
        let done = Pin::new(&mut patient.inner).poll_shutdown(cx);
        minding(done, &mut patient.unsent, patient.patience, cx)
    }
}
