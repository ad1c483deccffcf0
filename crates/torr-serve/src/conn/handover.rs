//! Connections that leave the engine for hyper, in the same worker: those of HTTP/2, and those that a request may upgrade
//! (`Upgrade`, CONNECT). A connection that such a request did not upgrade comes back.

mod authority;
pub(in crate::conn) mod controller;
mod cutoff;
pub(in crate::conn) mod exchange;
pub(in crate::conn) mod frame_guard;
mod frame_scanner;
mod gate;
pub(in crate::conn) mod in_flight;
pub(in crate::conn) mod noted_body;
mod refusal;
mod socket_stream;
mod unread;
mod upgrade;
mod write_timeout;

use crate::client::Client;
use crate::conn::admission::Admission;
use crate::conn::context::WorkerContext;
use crate::conn::next::HyperProtocol;
use controller::Budget;
use cutoff::Cutoff;
use exchange::{Ending, Exchange};
use frame_guard::{FrameGuard, GRACE, STREAMS};
use gate::{Gate, Served, ServedCell};
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioIo, TokioTimer};
use in_flight::InFlight;
use socket_stream::{SocketStream, StreamParts};
use std::os::fd::OwnedFd;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task;
use tokio::time::{sleep, timeout};
use torr_net::tls::TlsServer;
use torr_net::{Nanos, clock};
use torr_wire::body::Framing;
use upgrade::Upgrade;
use write_timeout::WriteTimeout;

/// The number of streams that a client may have reset before they were looked at, and of streams that may have ended by faults
/// of the client. Beyond these a connection ends (GOAWAY), since no sound client gets there: CVE-2023-44487 and CVE-2025-8671.
const RESET_UNSEEN: usize = 20;
const RESET_FOR_FAULTS: usize = 1024;
/// The number of bytes that hyper needs at least for a header section.
const LEAST_HEAD: usize = 8 * 1024;
/// The shortest time between two looks at a connection.
const LEAST_WAIT: Duration = Duration::from_millis(10);
/// The longest time between two looks at a connection whose streams have to end.
const CUT_OFF_WAIT: Duration = Duration::from_millis(50);

/// The parts of a connection that the engine and hyper pass to each other.
pub(crate) struct ConnectionParts {
    pub socket: OwnedFd,
    pub admission: Admission,
    pub tls: Option<Box<TlsServer>>,
    /// The bytes that have arrived on the connection and are not handled.
    pub input: Vec<u8>,
    pub client: Client,
    /// The number of requests so far.
    pub served: u64,
    /// The time from which on the connection is to end, by the coarse clock; `Nanos::MAX` if there is none.
    pub expires: Nanos,
}

/// A connection that hyper is to serve.
pub(crate) struct HandedOver {
    pub parts: ConnectionParts,
    pub protocol: HyperProtocol,
}

/// A connection that returns to the engine.
pub(crate) struct Returned {
    pub parts: ConnectionParts,
    /// Whether another request may follow. Otherwise the connection ends by a lingering close.
    pub is_kept_alive: bool,
}

/// The signals from a worker to the connections that hyper serves. The worker counts the receivers of `cutoff`.
pub(crate) struct WorkerSignals {
    /// Turns true when the server shuts down.
    pub leaving: watch::Receiver<bool>,
    /// Turns true when streams and upgraded connections have to end.
    pub cutoff: watch::Receiver<bool>,
}

/// Spawns tasks on the worker's own thread.
#[derive(Clone)]
struct LocalExecutor;

impl<F: Future + 'static> hyper::rt::Executor<F> for LocalExecutor
where
    F::Output: 'static,
{
    fn execute(&self, future: F) {
        task::spawn_local(future);
    }
}

/// Serves a connection to its end, until it is upgraded, or until the engine continues with it.
pub(crate) async fn serve(
    connection: HandedOver,
    worker: Rc<WorkerContext>,
    signals: WorkerSignals,
) -> Option<Returned> {
    let HandedOver { parts, protocol } = connection;
    match protocol {
        HyperProtocol::Http1 { head, framing } => serve_http1(parts, head, framing, worker, signals).await,
        HyperProtocol::Http2 => {
            serve_http2(parts, worker, signals).await;
            None
        }
    }
}

/// Serves one request over HTTP/1.1, which may upgrade the connection.
async fn serve_http1(
    parts: ConnectionParts,
    head: usize,
    framing: Framing,
    worker: Rc<WorkerContext>,
    signals: WorkerSignals,
) -> Option<Returned> {
    let settings = &worker.settings;
    let expires = parts.expires;
    let (client, upgrade, served) = (parts.client.clone(), Arc::<Upgrade>::default(), ServedCell::default());
    let leaving = signals.leaving.clone();
    let cutoff = Cutoff::new(signals.cutoff.clone(), Arc::clone(&upgrade), Arc::clone(&worker.shutdown));
    let (stream, exchange) = open(parts, &worker, Some(Arc::clone(&upgrade)), Some(cutoff))?;
    // Where a request offered an upgrade and its connection is to be closed, hyper throws away what the socket does not take
    // at once. A socket that tokio has just got to know counts as one that takes nothing.
    timeout(settings.write_timeout, stream.writable()).await.ok()?.ok()?;
    let gate = Gate::new(stream, head, framing, Arc::clone(&upgrade), served.clone());
    let mut builder = http1::Builder::new();
    let most_of_head = settings.most_of_head().max(LEAST_HEAD);
    builder.timer(TokioTimer::new()).max_headers(settings.max_headers).max_buf_size(most_of_head);
    let io = TokioIo::new(WriteTimeout::new(gate, settings.write_timeout));
    let connection = builder.serve_connection(io, exchange.clone()).with_upgrades();
    let end = |connection: Pin<&mut http1::UpgradeableConnection<_, _>>| connection.graceful_shutdown();
    // One request of HTTP/1.1 ends by itself, and the engine ends its connection.
    if !drive(connection, end, &exchange, false, None, signals, &worker).await {
        return None;
    }
    upgrade.complete();
    let Served { stream, is_whole } = served.take()?;
    let is_kept_alive = is_whole && exchange.ending() == Some(Ending::KeepAlive) && !*leaving.borrow();
    let StreamParts { socket, tls, admission, arrived: input } = stream.into_parts().ok()?;
    let served = exchange.served();
    drop(exchange);
    // Any other owner of the admission works on a request of this connection, which is over.
    let admission = Arc::into_inner(admission)?;
    Some(Returned { parts: ConnectionParts { socket, admission, tls, input, client, served, expires }, is_kept_alive })
}

/// Serves a connection of HTTP/2 to its end.
async fn serve_http2(parts: ConnectionParts, worker: Rc<WorkerContext>, signals: WorkerSignals) {
    let settings = &worker.settings;
    let expires = expiry(parts.expires);
    let Some((stream, exchange)) = open(parts, &worker, None, None) else { return };
    let mut builder = http2::Builder::new(LocalExecutor);
    let most_of_fields = u32::try_from(settings.most_of_head()).unwrap_or(u32::MAX);
    builder.timer(TokioTimer::new()).max_concurrent_streams(STREAMS).max_header_list_size(most_of_fields);
    builder.keep_alive_interval(settings.write_timeout).keep_alive_timeout(settings.write_timeout);
    builder.enable_connect_protocol();
    builder.max_pending_accept_reset_streams(RESET_UNSEEN).max_local_error_reset_streams(RESET_FOR_FAULTS);
    let io = WriteTimeout::new(stream, settings.write_timeout);
    let io = TokioIo::new(FrameGuard::new(io, Rc::clone(exchange.flow())));
    let connection = builder.serve_connection(io, exchange.clone());
    let end = |connection: Pin<&mut http2::Connection<_, _, _>>| connection.graceful_shutdown();
    drive(connection, end, &exchange, true, expires, signals, &worker).await;
}

/// Returns the time at which a connection is old, `None` if it never is.
fn expiry(expires: Nanos) -> Option<Instant> {
    let left = Duration::from_nanos(expires.saturating_sub(clock::coarse()));
    (expires != Nanos::MAX).then(|| Instant::now() + left)
}

/// Returns a connection's stream and the service for its requests. `None` if the runtime cannot watch the socket.
fn open(
    parts: ConnectionParts,
    worker: &Rc<WorkerContext>,
    upgrade: Option<Arc<Upgrade>>,
    cutoff: Option<Cutoff>,
) -> Option<(SocketStream, Exchange)> {
    let ConnectionParts { socket, admission, tls, input: arrived, client, served, expires: _ } = parts;
    let admission = Arc::new(admission);
    let budget = Budget::new(STREAMS, Arc::clone(&admission));
    let exchange = Exchange::new(Rc::clone(worker), client, served, upgrade, budget);
    let parts = StreamParts { socket, tls, admission, arrived };
    let stream = SocketStream::new(parts, worker.meter.elsewhere(), cutoff).ok()?;
    Some((stream, exchange))
}

/// Drives a connection until it ends or the server shuts down. Only one of HTTP/2 `is_watched` for being idle or stuck. Returns
/// whether hyper was done with it, and nothing was cut off.
async fn drive<C: Future<Output = hyper::Result<()>>>(
    connection: C,
    end: fn(Pin<&mut C>),
    exchange: &Exchange,
    is_watched: bool,
    expires: Option<Instant>,
    signals: WorkerSignals,
    worker: &WorkerContext,
) -> bool {
    let WorkerSignals { mut leaving, mut cutoff } = signals;
    let mut connection = pin!(connection);
    let watched = is_watched.then(|| exchange.in_flight());
    let mut is_cut_off = false;
    // The time at which the connection's graceful end began, and its deadline.
    let (mut ending, mut deadline) = (None::<Instant>, None::<Instant>);
    // Unless the server shuts down, clients have time to end what they send.
    let lingers = |deadline: Option<Instant>| deadline.is_none() && exchange.in_flight().is_discarding();
    loop {
        let until_idle = match (watched.map(InFlight::idle_for), ending) {
            (None, _) => Duration::MAX,
            (Some(time), None) => worker.settings.idle_timeout.saturating_sub(time),
            (Some(_), Some(_)) if lingers(deadline) => GRACE,
            (Some(time), Some(ending)) => GRACE.saturating_sub(time.min(ending.elapsed())),
        };
        let until_old = expires.filter(|_| ending.is_none());
        let until_old = until_old.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
        let until_deadline = deadline.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
        let until_stuck = |requests: &InFlight| worker.settings.write_timeout.saturating_sub(requests.stuck_for());
        let until_stuck = watched.map_or(Duration::MAX, until_stuck);
        let until_cut_off = if is_cut_off { CUT_OFF_WAIT } else { Duration::MAX };
        let announced = ending.filter(|_| is_watched && !exchange.flow().is_final());
        let until_final = announced.map_or(Duration::MAX, |since| GRACE.saturating_sub(since.elapsed()));
        let wait = until_idle.min(until_old).min(until_deadline).min(until_stuck).min(until_cut_off);
        let wait = wait.min(until_final).max(LEAST_WAIT);
        if is_cut_off && exchange.in_flight().has_streams_only() {
            return false;
        }
        tokio::select! {
            // What has arrived is read before a graceful end begins.
            biased;
            ended = connection.as_mut() => return ended.is_ok(),
            _ = leaving.wait_for(|&leaving| leaving), if deadline.is_none() => {
                if exchange.ending().is_none() {
                    end(connection.as_mut());
                }
                // A connection that takes longer is cut off.
                (ending, deadline) = (Some(Instant::now()), Some(Instant::now() + worker.settings.stop_timeout));
            }
            _ = cutoff.wait_for(|&is_over| is_over), if !is_cut_off => is_cut_off = true,
            // The connection has brought its last request; those in flight still have their responses.
            () = exchange.enough(), if ending.is_none() => {
                end(connection.as_mut());
                ending = Some(Instant::now());
            }
            // The client goes on, whether it has read of the end or not.
            () = exchange.beyond() => exchange.flow().finish(),
            () = sleep(wait) => {
                let stuck = watched.map_or(Duration::ZERO, InFlight::stuck_for);
                let idle = watched.map_or(Duration::ZERO, InFlight::idle_for);
                match ending {
                    _ if stuck >= worker.settings.write_timeout => return false,
                    None if idle >= worker.settings.idle_timeout || expires.is_some_and(|at| at <= Instant::now()) => {
                        end(connection.as_mut());
                        ending = Some(Instant::now());
                    }
                    // The client does not reply, or has never begun to send.
                    Some(ending) if !lingers(deadline) && idle.min(ending.elapsed()) >= GRACE => return false,
                    _ if deadline.is_some_and(|at| at <= Instant::now()) => return false,
                    // A client that does not acknowledge the end could go on for ever.
                    Some(since) if since.elapsed() >= GRACE => exchange.flow().finish(),
                    _ => {}
                }
            }
        }
    }
}
