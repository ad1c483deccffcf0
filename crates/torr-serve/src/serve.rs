//! The one line of an async program, `serve(listener, app).await`, which replaces `axum::serve`: a [`Server`] on threads of its own,
//! awaited as a future.

pub(crate) mod into_app;

use crate::app::App;
use crate::process::adopted::Listener;
use crate::server::{Reload, Server};
use crate::settings::Settings;
use into_app::IntoApp;
use std::fmt;
use std::future::{IntoFuture, Pending, pending, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// Serves an application on a listener: `axum::serve` with another server behind the same line. The returned value is awaited, for
/// example in `#[tokio::main]` of either flavour; until then it does nothing.
///
/// The listener is one of std or tokio, TCP or Unix, and it is not bound anew. The application is an `axum::Router`, what its
/// `into_make_service` or `into_make_service_with_connect_info::<SocketAddr>` returns, another tower service of http types, or an
/// [`App`]. Handlers run in the context of the runtime that awaits, so that pools made there, `tokio::spawn`, timers and signals work
/// as before. Signals are left to the program, see [`Serve::with_reload_signal`] for SIGHUP.
///
/// ```
/// use axum::Router;
/// use axum::routing::get;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let app = Router::new().route("/", get(|| async { "Hello, world!" }));
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// # let end = std::future::ready(());
/// torr_serve::serve(listener, app).with_graceful_shutdown(end).await
/// # }
/// ```
///
/// # Errors
/// Awaiting returns the errors of [`Server::on`] and [`Bound::run`](crate::Bound::run) as errors of I/O, and one where no runtime of
/// tokio awaits. Connections that fail are no errors.
pub fn serve<L: Listener, A: IntoApp<Kind>, Kind>(listener: L, app: A) -> Serve<L> {
    // As under `axum::serve`, no field tells which server responds.
    let settings = Settings { server_name: "", ..Settings::default() };
    let (app, runtime) = (app.into_app(), Runtime::Caller);
    Serve { listener, app, settings, runtime, signal: pending(), reload: Reload::default(), reload_signal: None }
}

/// A server that [`serve`] returns and that starts when it is awaited.
///
/// The server stops when the future is dropped, as [`Running`](crate::Running) does.
#[must_use = "a server starts only when it is awaited"]
pub struct Serve<L, F = Pending<()>> {
    listener: L,
    app: App,
    settings: Settings,
    runtime: Runtime,
    signal: F,
    reload: Reload,
    reload_signal: Option<PollReload>,
}

/// Returns a value each time that the server is to be reloaded, and `None` once it will not be.
type PollReload = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<()>> + Send>;

/// The runtime in whose context handlers run.
enum Runtime {
    /// The runtime that awaits the server.
    Caller,
    Given(Handle),
    /// Each worker's own.
    Own,
}

impl<L: Listener, F> Serve<L, F> {
    /// Stops the server when the future completes: nothing more is accepted, requests in flight are finished within
    /// [`Settings::stop_timeout`], streams and WebSockets within [`Settings::stream_stop_timeout`]. Then the server's future completes.
    pub fn with_graceful_shutdown<G>(self, signal: G) -> Serve<L, G>
    where
        G: Future<Output = ()> + Send + 'static,
    {
        let Self { listener, app, settings, runtime, signal: _, reload, reload_signal } = self;
        Serve { listener, app, settings, runtime, signal, reload, reload_signal }
    }

    /// Reloads the server each time that `poll` is ready: the certificates are read and the access log is opened again. Failures are
    /// reported in the program's log, and what was in use stays. `poll` is called as long as it returns something.
    ///
    /// SIGHUP, which ends a program that does not handle it, is received by
    /// `let mut hangup = tokio::signal::unix::signal(SignalKind::hangup())?` and `.with_reload_signal(move |cx| hangup.poll_recv(cx))`.
    /// A channel reloads the server from elsewhere in the program, as [`Serve::reload`] does:
    ///
    /// ```
    /// use axum::Router;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (renewed, mut renewals) = tokio::sync::mpsc::channel::<()>(1);
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let end = std::future::ready(());
    /// torr_serve::serve(listener, Router::new())
    ///     .with_reload_signal(move |cx| renewals.poll_recv(cx))
    ///     .with_graceful_shutdown(end)
    ///     .await?;
    /// # drop(renewed);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_reload_signal<P>(mut self, poll: P) -> Self
    where
        P: FnMut(&mut Context<'_>) -> Poll<Option<()>> + Send + 'static,
    {
        self.reload_signal = Some(Box::new(poll));
        self
    }

    /// Returns a handle to reload the server once it is awaited, from any thread and any number of times.
    pub fn reload(&self) -> Reload {
        self.reload.clone()
    }

    /// Replaces the settings. Worker processes are refused: they would have to open the listener themselves.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Runs handlers in the context of this runtime rather than that of the caller, as [`Server::runtime`] does.
    pub fn runtime(mut self, handle: Handle) -> Self {
        self.runtime = Runtime::Given(handle);
        self
    }

    /// Runs handlers in the runtime of the worker that received the request. What a handler spawns stays on its thread, a stop waits
    /// for these tasks, and a worker wakes no other thread. A pool made before belongs to the caller's runtime as before.
    pub fn own_runtimes(mut self) -> Self {
        self.runtime = Runtime::Own;
        self
    }

    /// Returns the address that the listener is bound to.
    ///
    /// # Errors
    /// Returns the errors of `getsockname(2)`.
    pub fn local_addr(&self) -> io::Result<L::Addr> {
        self.listener.local_addr()
    }
}

impl<L, F> IntoFuture for Serve<L, F>
where
    L: Listener,
    F: Future<Output = ()> + Send + 'static,
{
    type Output = io::Result<()>;
    type IntoFuture = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { listener, app, settings, runtime, signal, reload, mut reload_signal } = self;
        Box::pin(async move {
            let caller = Handle::try_current().map_err(io::Error::other)?;
            let server = Server::new(app).settings(settings);
            let server = match runtime {
                Runtime::Caller => server.runtime(caller),
                Runtime::Given(handle) => server.runtime(handle),
                Runtime::Own => server,
            };
            let bound = server.on(listener)?;
            bound.reloaded_by(&reload);
            let (mut running, mut signal) = (bound.run_async(), pin!(signal));
            loop {
                tokio::select! {
                    ended = &mut running => return Ok(ended?),
                    () = &mut signal => break running.stop().stop(),
                    () = requested(&mut reload_signal) => {
                        let reload = reload.clone();
                        // Reading files would hold up the program's other tasks. Failures are reported there.
                        drop(spawn_blocking(move || reload.reload()));
                    }
                }
            }
            Ok(running.await?)
        })
    }
}

/// Waits until the server is to be reloaded, forever once it will not be.
async fn requested(reload_signal: &mut Option<PollReload>) {
    if let Some(poll) = reload_signal
        && poll_fn(&mut *poll).await.is_some()
    {
        return;
    }
    *reload_signal = None;
    pending().await
}

impl<L, F> fmt::Debug for Serve<L, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve").field("app", &self.app).field("settings", &self.settings).finish_non_exhaustive()
    }
}
