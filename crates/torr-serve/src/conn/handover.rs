//! Connections that leave the engine for hyper, in the same worker: HTTP/2, and those that a request may turn into
//! something else (`Upgrade`, CONNECT). One that such a request did not turn into anything else comes back.

mod authority;
mod controller;
mod cutoff;
mod exchange;
mod gate;
mod line;
mod patient;

use crate::client::Client;
use crate::conn::http1::To;
use crate::conn::seats::Seat;
use crate::context::Desk;
use controller::Budget;
use cutoff::{Cutoff, Upgraded};
use exchange::{Ending, Exchange};
use gate::{Gate, Passage, Served};
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioIo, TokioTimer};
use line::Line;
use patient::Patient;
use std::os::fd::OwnedFd;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task;
use tokio::time::{sleep, timeout};
use torr_net::tls::TlsServer;

/// Streams of one connection at a time, the least that RFC 9113 recommends (section 5.1.2) and a little more. It bounds
/// handlers of the `App` that work for a connection, too, be their streams open or reset.
const STREAMS: u32 = 128;
/// Streams that a client may have reset before they were looked at, and streams that may have ended by faults of the client.
/// Beyond these a connection ends (GOAWAY), since no sound client gets there: CVE-2023-44487 and CVE-2025-8671.
const RESET_UNSEEN: usize = 20;
const RESET_FOR_FAULTS: usize = 1024;
/// How long a connection without requests may take to end once it is told to.
const GRACE: Duration = Duration::from_secs(1);
/// What hyper needs at least for a head.
const LEAST_HEAD: usize = 8 * 1024;

/// How often a connection is looked at, at most.
const LEAST_PATIENCE: Duration = Duration::from_millis(10);

/// How often a connection is looked at once streams have to end.
const CUT_OFF: Duration = Duration::from_millis(50);

/// A connection that is given away.
pub(crate) struct Handed {
    pub socket: OwnedFd,
    pub seat: Seat,
    pub secure: Option<Box<TlsServer>>,
    /// What has arrived on it and is dealt with by nobody.
    pub input: Vec<u8>,
    pub client: Client,
    /// Requests that it has brought before.
    pub served: u64,
    pub to: To,
}

/// A connection that goes back to the engine.
pub(crate) struct Returned {
    pub socket: OwnedFd,
    pub seat: Seat,
    pub secure: Option<Box<TlsServer>>,
    /// Bytes that have arrived and were read by nobody.
    pub input: Vec<u8>,
    pub client: Client,
    /// Requests that the connection has brought so far.
    pub served: u64,
    /// Whether another request may follow. Otherwise the connection is to be ended, gently.
    pub persists: bool,
}

/// Spawns on the worker's own thread.
#[derive(Clone)]
struct Here;

impl<F: Future + 'static> hyper::rt::Executor<F> for Here
where
    F::Output: 'static,
{
    fn execute(&self, future: F) {
        task::spawn_local(future);
    }
}

/// Serves a connection to its end, until it is upgraded, or to where the engine goes on with it. `leaving` tells when the server
/// leaves, `cutoff` when streams and upgraded connections have to end.
pub(crate) async fn serve(
    handed: Handed,
    desk: Rc<Desk>,
    leaving: watch::Receiver<bool>,
    cutoff: watch::Receiver<bool>,
) -> Option<Returned> {
    let settings = &desk.settings;
    let (client, passage, seat) = (handed.client.clone(), Arc::<Passage>::default(), Arc::new(handed.seat));
    let budget = Budget::new(STREAMS, Arc::clone(&seat));
    let exchange = Exchange::new(Rc::clone(&desk), handed.client, handed.served, Arc::clone(&passage), budget);
    // A socket that the runtime cannot watch is of no use to anybody.
    let counts = desk.meter.elsewhere();
    let sent = exchange.sent();
    let upgraded = Upgraded::default();
    let is_http1 = matches!(handed.to, To::Http1 { .. });
    let ends = is_http1.then(|| Cutoff::new(cutoff.clone(), &upgraded, Arc::clone(&desk.shutdown)));
    let line = Line::new(handed.socket, handed.secure, seat, handed.input, counts, sent, ends).ok()?;
    let word = Word { leaving: leaving.clone(), cutoff };
    let timer = TokioTimer::new();
    match handed.to {
        To::Http1 { head, framing } => {
            // Where a request asked for an upgrade and its connection is to be closed, hyper throws away what the socket does not
            // take at once. A socket that tokio has just got to know counts as one that takes nothing.
            timeout(settings.write_timeout, line.writable()).await.ok()?.ok()?;
            let io = TokioIo::new(Patient::new(
                Gate::new(line, head, framing, Arc::clone(&passage)),
                settings.write_timeout,
            ));
            let mut builder = http1::Builder::new();
            let head = settings.most_of_head().max(LEAST_HEAD);
            builder.timer(timer).max_headers(settings.max_headers).max_buf_size(head);
            let connection = builder.serve_connection(io, exchange.clone()).with_upgrades();
            let end = |connection: Pin<&mut http1::UpgradeableConnection<_, _>>| connection.graceful_shutdown();
            if !see_through(connection, end, &exchange, false, word, &desk).await {
                return None;
            }
            if passage.is_open() {
                upgraded.mark();
            }
            let Served { line, is_whole } = passage.take_served()?;
            let persists = is_whole && exchange.ending() == Some(Ending::Persists) && !*leaving.borrow();
            let line::Parts { socket, secure, seat, arrived } = line.into_parts().ok()?;
            let served = exchange.served();
            drop(exchange);
            // Whoever else has a part in it works on a request of this connection, which is over.
            let seat = Arc::into_inner(seat)?;
            Some(Returned { socket, seat, secure, input: arrived, client, served, persists })
        }
        To::Http2 => {
            let io = TokioIo::new(Patient::new(line, settings.write_timeout));
            let mut builder = http2::Builder::new(Here);
            let list = u32::try_from(settings.most_of_head()).unwrap_or(u32::MAX);
            builder.timer(timer).max_concurrent_streams(STREAMS).max_header_list_size(list);
            builder.keep_alive_interval(settings.write_timeout).keep_alive_timeout(settings.write_timeout);
            builder.enable_connect_protocol();
            builder.max_pending_accept_reset_streams(RESET_UNSEEN).max_local_error_reset_streams(RESET_FOR_FAULTS);
            let connection = builder.serve_connection(io, exchange.clone());
            let end = |connection: Pin<&mut http2::Connection<_, _, _>>| connection.graceful_shutdown();
            see_through(connection, end, &exchange, true, word, &desk).await;
            None
        }
    }
}

/// What a worker tells the connections that have left the engine.
struct Word {
    leaving: watch::Receiver<bool>,
    cutoff: watch::Receiver<bool>,
}

/// Lets a connection live until it ends or the server leaves. Only one of HTTP/2 `is_watched` for being idle or stuck. Returns
/// whether hyper was done with it, and nothing was cut off.
async fn see_through<C: Future<Output = hyper::Result<()>>>(
    connection: C,
    end: fn(Pin<&mut C>),
    exchange: &Exchange,
    is_watched: bool,
    word: Word,
    desk: &Desk,
) -> bool {
    let Word { mut leaving, mut cutoff } = word;
    let mut connection = pin!(connection);
    let idle = is_watched.then_some(exchange);
    let mut is_cut_off = false;
    // When it was told to end, and when it has to.
    let (mut told, mut last) = (None::<Instant>, None::<Instant>);
    loop {
        let patience = match (idle.map(Exchange::idle_for), told) {
            (None, _) => Duration::MAX,
            (Some(time), None) => desk.settings.idle_timeout.saturating_sub(time),
            (Some(time), Some(told)) => GRACE.saturating_sub(time.min(told.elapsed())),
        };
        let patience = patience.min(last.map_or(Duration::MAX, |last| last.saturating_duration_since(Instant::now())));
        let until_stuck = |exchange: &Exchange| desk.settings.write_timeout.saturating_sub(exchange.stuck_for());
        let patience = patience.min(idle.map_or(Duration::MAX, until_stuck));
        let patience = patience.min(if is_cut_off { CUT_OFF } else { Duration::MAX }).max(LEAST_PATIENCE);
        if is_cut_off && exchange.has_streams_only() {
            return false;
        }
        tokio::select! {
            // What has arrived is read before the connection is told to end.
            biased;
            ended = connection.as_mut() => return ended.is_ok(),
            _ = leaving.wait_for(|&leaving| leaving), if last.is_none() => {
                if exchange.ending().is_none() {
                    end(connection.as_mut());
                }
                // Who takes longer is cut off.
                (told, last) = (Some(Instant::now()), Some(Instant::now() + desk.settings.stop_timeout));
            }
            _ = cutoff.wait_for(|&is_over| is_over), if !is_cut_off => is_cut_off = true,
            // It has brought its last request; those that are on their way are still answered.
            () = exchange.enough(), if told.is_none() => {
                end(connection.as_mut());
                told = Some(Instant::now());
            }
            () = sleep(patience) => {
                let stuck = idle.map_or(Duration::ZERO, Exchange::stuck_for);
                let is_moving = idle.is_some_and(Exchange::is_moving);
                let time = idle.map_or(Duration::ZERO, Exchange::idle_for);
                match told {
                    _ if stuck >= desk.settings.write_timeout && !is_moving => return false,
                    None if time >= desk.settings.idle_timeout => {
                        end(connection.as_mut());
                        told = Some(Instant::now());
                    }
                    // Its client does not answer, or has never begun to speak.
                    Some(told) if !is_moving && time.min(told.elapsed()) >= GRACE => return false,
                    _ if last.is_some_and(|last| last <= Instant::now()) => return false,
                    _ => {}
                }
            }
        }
    }
}
