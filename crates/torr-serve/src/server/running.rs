//! A server that runs beside async code, as a future of its end.

use super::{Bound, Reload, Stop};
use crate::error::ServeError;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::mpsc::{self, Receiver};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// The most time for which a drop waits until the workers have closed the listener. Only a worker whose handler computes needs
/// more than a millisecond.
const CLOSES: Duration = Duration::from_millis(100);

/// A server that [`Bound::run_async`] has started: a future of its end.
///
/// Dropping this stops the server, as [`Stop::stop`] does. The drop closes the listener, for which it waits 100 ms at most, and no
/// longer: requests in flight are finished on the workers' threads, within [`Settings::stop_timeout`], as long as the program runs.
///
/// [`Settings::stop_timeout`]: crate::Settings::stop_timeout
#[must_use = "the server stops when this is dropped"]
pub struct Running {
    stop: Stop,
    reload: Reload,
    ended: oneshot::Receiver<Result<(), ServeError>>,
    /// Disconnected once all listeners are closed.
    closed: Receiver<()>,
}

impl Bound {
    /// Serves until [`Stop::stop`] as [`Bound::run`] does, on threads of its own, so that async code can await the end. Signals are
    /// left to the program. The server runs from this call on, whether or not the future is polled.
    ///
    /// ```
    /// use torr_serve::{App, Response, Server};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let bound = Server::new(App::new().get("/", |_| Response::text("hello"))).bind("127.0.0.1:0")?;
    /// let running = bound.run_async();
    /// running.stop().stop();
    /// running.await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The future returns the errors of [`Bound::run`].
    pub fn run_async(mut self) -> Running {
        let (stop, reload) = (self.stop(), self.reload());
        let ((tell, ended), (open, closed)) = (oneshot::channel(), mpsc::channel());
        self.open = Some(open);
        // The sender is dropped with the closure where no thread can be started, and where the server panics.
        let started = thread::Builder::new().name("serve".into()).spawn(move || tell.send(self.run()));
        match started {
            Ok(_thread) => Running { stop, reload, ended, closed },
            Err(error) => {
                let (tell, ended) = oneshot::channel();
                let _ = tell.send(Err(error.into()));
                Running { stop, reload, ended, closed }
            }
        }
    }
}

impl Running {
    /// Returns a handle to reload the server.
    pub fn reload(&self) -> Reload {
        self.reload.clone()
    }

    /// Returns a handle to stop the server.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }
}

impl Future for Running {
    type Output = Result<(), ServeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        pin!(&mut self.ended).poll(cx).map(|ended| ended.unwrap_or(Err(ServeError::Panicked)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        // Nothing is ever sent: the senders are dropped with the listeners.
        let _ = self.closed.recv_timeout(CLOSES);
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}
