//! `serve(listener, app).await`, which replaces `axum::serve` in an async program.

pub(crate) mod into_app;

use crate::app::App;
use crate::process::adopted::Listener;
use crate::server::Server;
use crate::settings::Settings;
use into_app::IntoApp;
use std::fmt;
use std::future::{IntoFuture, Pending, pending};
use std::io;
use std::pin::Pin;
use tokio::runtime::Handle;

/// Serves an application on a listener: `axum::serve` with another server behind the same line. The returned value is awaited, for
/// example in `#[tokio::main]` of either flavour; until then it does nothing.
///
/// The listener is one of std or tokio, TCP or Unix, and it is not bound anew. The application is an `axum::Router`, what its
/// `into_make_service` or `into_make_service_with_connect_info::<SocketAddr>` returns, another tower service of http types, or an
/// [`App`]. Handlers run in the context of the runtime that awaits, so that pools made there, `tokio::spawn`, timers and signals work
/// as before. Signals are left to the program.
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
    Serve { listener, app, settings, runtime, signal: pending() }
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
}

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
        let Self { listener, app, settings, runtime, signal: _ } = self;
        Serve { listener, app, settings, runtime, signal }
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
        let Self { listener, app, settings, runtime, signal } = self;
        Box::pin(async move {
            let caller = Handle::try_current().map_err(io::Error::other)?;
            let server = Server::new(app).settings(settings);
            let server = match runtime {
                Runtime::Caller => server.runtime(caller),
                Runtime::Given(handle) => server.runtime(handle),
                Runtime::Own => server,
            };
            let mut running = server.on(listener)?.run_async();
            tokio::select! {
                ended = &mut running => return Ok(ended?),
                () = signal => running.stop().stop(),
            }
            Ok(running.await?)
        })
    }
}

impl<L, F> fmt::Debug for Serve<L, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve").field("app", &self.app).field("settings", &self.settings).finish_non_exhaustive()
    }
}
