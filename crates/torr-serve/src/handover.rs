//! Connections that leave the engine for hyper, in the same worker: HTTP/2, and those that a request may turn into
//! something else (`Upgrade`, CONNECT).

mod cutoff;
mod exchange;
mod line;
mod patient;

use crate::client::Client;
use crate::context::Desk;
use crate::http1::To;
use crate::seats::Seat;
use cutoff::{Cutoff, Upgraded};
use exchange::Exchange;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioIo, TokioTimer};
use line::Line;
use patient::Patient;
use std::future::pending;
use std::os::fd::OwnedFd;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task;
use tokio::time::sleep;
use torr_net::tls::TlsServer;

/// Streams of one connection at a time, the least that RFC 9113 recommends (section 5.1.2) and a little more.
const STREAMS: u32 = 128;
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

/// Serves a connection to its end, or until it is upgraded. `leaving` tells when the server leaves, `cutoff` when streams and
/// upgraded connections have to end.
pub(crate) async fn serve(
    handed: Handed,
    desk: Rc<Desk>,
    leaving: watch::Receiver<bool>,
    cutoff: watch::Receiver<bool>,
) {
    let settings = &desk.settings;
    let exchange = Exchange::new(Rc::clone(&desk), handed.client, handed.served);
    // A socket that the runtime cannot watch is of no use to anybody.
    let counts = desk.meter.elsewhere();
    let sent = exchange.sent();
    let upgraded = Upgraded::default();
    let ends = (handed.to == To::Http1).then(|| Cutoff::new(cutoff.clone(), &upgraded, Arc::clone(&desk.shutdown)));
    let Ok(line) = Line::new(handed.socket, handed.secure, handed.seat, handed.input, counts, sent, ends) else {
        return;
    };
    let word = Word { leaving, cutoff };
    let (io, timer) = (TokioIo::new(Patient::new(line, settings.write_timeout)), TokioTimer::new());
    match handed.to {
        To::Http1 => {
            let mut builder = http1::Builder::new();
            builder.timer(timer).header_read_timeout(settings.idle_timeout).max_headers(settings.max_headers);
            builder.max_buf_size(settings.max_head.max(LEAST_HEAD));
            let connection = builder.serve_connection(io, exchange.clone()).with_upgrades();
            see_through(connection, |connection| connection.graceful_shutdown(), &exchange, false, word, &desk).await;
            // If it has not ended, it is upgraded.
            upgraded.mark();
        }
        To::Http2 => {
            let mut builder = http2::Builder::new(Here);
            let list = u32::try_from(settings.max_head).unwrap_or(u32::MAX);
            builder.timer(timer).max_concurrent_streams(STREAMS).max_header_list_size(list);
            builder.keep_alive_interval(settings.write_timeout).keep_alive_timeout(settings.write_timeout);
            builder.enable_connect_protocol();
            let connection = builder.serve_connection(io, exchange.clone());
            see_through(connection, |connection| connection.graceful_shutdown(), &exchange, true, word, &desk).await;
        }
    }
}

/// What a worker tells the connections that have left the engine.
struct Word {
    leaving: watch::Receiver<bool>,
    cutoff: watch::Receiver<bool>,
}

/// Lets a connection live until it ends, is idle for too long, or the server leaves. Only one of HTTP/2 `is_watched` for being
/// idle or stuck.
async fn see_through<C: Future>(
    connection: C,
    end: fn(Pin<&mut C>),
    exchange: &Exchange,
    is_watched: bool,
    word: Word,
    desk: &Desk,
) {
    let Word { mut leaving, mut cutoff } = word;
    let mut connection = pin!(connection);
    let (streams, exchange) = (exchange, is_watched.then_some(exchange));
    let mut is_cut_off = false;
    // When it was told to end, and when it has to.
    let (mut told, mut last) = (None::<Instant>, None::<Instant>);
    loop {
        let patience = match (exchange.map(Exchange::idle_for), told) {
            (None, _) => Duration::MAX,
            (Some(idle), None) => desk.settings.idle_timeout.saturating_sub(idle),
            (Some(idle), Some(told)) => GRACE.saturating_sub(idle.min(told.elapsed())),
        };
        let patience = patience.min(last.map_or(Duration::MAX, |last| last.saturating_duration_since(Instant::now())));
        let until_stuck = |exchange: &Exchange| desk.settings.write_timeout.saturating_sub(exchange.stuck_for());
        let patience = patience.min(exchange.map_or(Duration::MAX, until_stuck));
        let patience = patience.min(if is_cut_off { CUT_OFF } else { Duration::MAX }).max(LEAST_PATIENCE);
        if is_cut_off && streams.has_streams_only() {
            return;
        }
        tokio::select! {
            // What has arrived is read before the connection is told to end.
            biased;
            _ = connection.as_mut() => return,
            _ = leaving.wait_for(|&leaving| leaving), if last.is_none() => {
                end(connection.as_mut());
                // Who takes longer is cut off.
                (told, last) = (Some(Instant::now()), Some(Instant::now() + desk.settings.stop_timeout));
            }
            _ = cutoff.wait_for(|&is_over| is_over), if !is_cut_off => is_cut_off = true,
            // It has brought its last request; those that are on their way are still answered.
            () = enough(exchange), if told.is_none() => {
                end(connection.as_mut());
                told = Some(Instant::now());
            }
            () = sleep(patience) => {
                let stuck = exchange.map_or(Duration::ZERO, Exchange::stuck_for);
                let is_moving = exchange.is_some_and(Exchange::is_moving);
                let idle = exchange.map_or(Duration::ZERO, Exchange::idle_for);
                match told {
                    _ if stuck >= desk.settings.write_timeout && !is_moving => return,
                    None if idle >= desk.settings.idle_timeout => {
                        end(connection.as_mut());
                        told = Some(Instant::now());
                    }
                    // Its client does not answer, or has never begun to speak.
                    Some(told) if !is_moving && idle.min(told.elapsed()) >= GRACE => return,
                    _ if last.is_some_and(|last| last <= Instant::now()) => return,
                    _ => {}
                }
            }
        }
    }
}

/// Waits for the last request that a connection may bring.
async fn enough(exchange: Option<&Exchange>) {
    match exchange {
        Some(exchange) => exchange.enough().await,
        None => pending().await,
    }
}
