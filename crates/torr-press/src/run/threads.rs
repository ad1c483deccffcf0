//! The load threads of a run: they are started, waited for, and given up where what their users run does not come to an end.

use super::start::{Preparation, Start};
use super::state::{Report, RunState, ThreadCoordinator};
use crate::engine::{Engine, ThreadResult};
use crate::pace::closed::Budget;
use crate::plan::Plan;
use crate::plan::servers::Servers;
use crate::protocol::Protocol;
use crate::protocol::by_alpn::ByAlpn;
use crate::protocol::either_tls::EitherTls;
use crate::protocol::http1::Http1;
use crate::protocol::http2::Http2;
use crate::protocol::http3::Http3;
use crate::protocol::tls::OverTls;
use crate::protocol::websocket::{Listener, Switching, WebSocket};
use crate::request::Requests;
use crate::response::events::Streaming;
use crate::response::inspect::Inspector;
use crate::response::keeper::Keeper;
use crate::work::Work;
use crate::work::source::{CurrentUser, Source};
use crate::work::users::ThreadPart;
use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use torr_gauge::generator::{ThreadCost, ThreadMeter};
use torr_net::quic::QuicClient;
use torr_net::tls::{TlsClient, TlsConfig};
use torr_net::{Clock, clock};

/// The longest time between two checks of the signal to stop.
const STOP_POLL: Duration = Duration::from_millis(20);
/// The time that one decision of a user may take after the end of a run. A longer one is taken to be a script in an endless
/// loop.
const LONGEST_DECISION: Duration = Duration::from_secs(2);

/// The state that all threads of a run share.
pub(crate) struct Shared {
    pub plan: Plan,
    pub budget: Budget,
    pub state: RunState,
    pub start: Start,
}

impl Shared {
    /// Waits until all threads are ready and the epoch of the run's clock has come, or until the run is stopped. Returns the clock.
    fn begin(&self) -> Clock {
        let time = self.start.clock(|| self.state.is_stopped());
        if time.until_epoch().is_zero() {
            return time;
        }
        clock::minimise_timer_slack();
        loop {
            let left = time.until_epoch();
            if left.is_zero() || self.state.is_stopped() {
                return time;
            }
            thread::sleep(left.min(STOP_POLL));
        }
    }

    /// Waits until all threads are ready, or until the run is stopped. Returns the clock of the run.
    pub fn clock(&self, is_stopped: impl Fn() -> bool) -> Clock {
        self.start.clock(|| self.state.is_stopped() || is_stopped())
    }
}

/// The result of a thread, and the resources that it used.
pub(crate) type Ended = (ThreadResult, ThreadCost);

/// The threads of a run.
pub(crate) struct LoadThreads {
    shared: Arc<Shared>,
    handles: Vec<JoinHandle<io::Result<Ended>>>,
    reports: Receiver<Report>,
}

impl LoadThreads {
    /// Starts the threads of a plan.
    ///
    /// # Errors
    /// Returns an error if the system refuses a thread.
    pub fn start(shared: &Arc<Shared>) -> io::Result<Self> {
        let (sender, reports) = mpsc::channel();
        let spawn = |number: usize| {
            let (shared, reports) = (Arc::clone(shared), sender.clone());
            let run = move || press(&shared, &ThreadCoordinator { number, state: &shared.state, reports });
            thread::Builder::new().name(format!("press-{number}")).spawn(run)
        };
        let handles = (0..shared.plan.thread_count()).map(spawn).collect::<io::Result<_>>().inspect_err(|_| {
            // Those that did start would go on for the whole run.
            shared.state.abort();
        })?;
        Ok(Self { shared: Arc::clone(shared), handles, reports })
    }

    /// Passes on what the threads report until all of them have ended. Returns what they leave, and whether a thread was given
    /// up, which leaves nothing and runs on until the program ends. `time` is the run's clock, `is_stopped` ends the run early.
    ///
    /// # Errors
    /// Returns the error of a thread to which the system refused something.
    pub fn wait(
        self,
        time: Clock,
        is_stopped: impl Fn() -> bool,
        mut report: impl FnMut(Report),
    ) -> io::Result<(Vec<Ended>, bool)> {
        let mut watchdog = Watchdog::new(time);
        let given_up = loop {
            match self.reports.recv_timeout(STOP_POLL) {
                Ok(one) => report(one),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Vec::new(),
            }
            if is_stopped() {
                self.shared.state.abort();
            }
            let given_up = watchdog.look(&self.shared, &self.handles);
            if !given_up.is_empty() {
                self.reports.try_iter().for_each(&mut report);
                break given_up;
            }
        };
        let is_given_up = |number: &usize| given_up.contains(number);
        let ended = self
            .handles
            .into_iter()
            .enumerate()
            .filter(|(number, _)| !is_given_up(number))
            .map(|(_, handle)| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let ended = ended.collect::<io::Result<Vec<_>>>()?;
        if let Some(users) = self.shared.plan.work.users() {
            given_up.iter().for_each(|number| users.given_up(*number));
        }
        Ok((ended, !given_up.is_empty()))
    }
}

/// Finds threads on which users do not come to a decision after the run has ended.
struct Watchdog {
    /// The clock of the run.
    time: Clock,
    /// When the run was first seen to be over, and what each thread was deciding then.
    over: Option<(Instant, Vec<u64>)>,
}

impl Watchdog {
    fn new(time: Clock) -> Self {
        Self { time, over: None }
    }

    /// Returns the threads to be given up, once no other is left that will end by itself.
    fn look(&mut self, shared: &Shared, handles: &[JoinHandle<io::Result<Ended>>]) -> Vec<usize> {
        let Some(users) = shared.plan.work.users() else { return Vec::new() };
        if !shared.state.is_stopped() && self.time.now() < shared.plan.deadline() {
            return Vec::new();
        }
        let decisions = || (0..handles.len()).map(|number| users.decisions(number)).collect::<Vec<_>>();
        let (since, before) = self.over.get_or_insert_with(|| (Instant::now(), decisions()));
        if since.elapsed() < LONGEST_DECISION {
            return Vec::new();
        }
        let now = decisions();
        let running =
            || handles.iter().enumerate().filter(|(_, handle)| !handle.is_finished()).map(|(number, _)| number);
        let is_stuck = |number: usize| now[number] % 2 == 1 && now[number] == before[number];
        if running().all(is_stuck) {
            return running().collect();
        }
        // Some thread still decides; the next look compares with what it decides now.
        self.over = Some((Instant::now(), now));
        Vec::new()
    }
}

/// Runs the part of one thread.
fn press(shared: &Shared, coordinator: &ThreadCoordinator<'_>) -> io::Result<Ended> {
    let plan = &shared.plan;
    let preparation = shared.start.prepare();
    let servers = Servers::of(plan);
    // TLS sessions are kept by thread, so that threads do not meet over them.
    let clients: Vec<_> = (0..servers.known()).map(|number| servers.tls(number).map(TlsConfig::client)).collect();
    let inspected = || Http1::inspected_by(Inspector::new(&plan.inspection, &plan.target));
    let http2 = || {
        let inspected = Http2::inspected_by(&plan.inspection, &plan.target);
        inspected.watching(plan.events.as_ref()).calling(plan.protocol.grpc)
    };
    let keeping = || Http1::inspected_by(Keeper::default());
    if let Some(websocket) = plan.work.requests().and_then(Requests::websocket) {
        let handshakes = websocket.handshakes(coordinator.number, plan.thread_count());
        let handshakes = Rc::new(RefCell::new(handshakes));
        let (checks, shared_cursor) = (&plan.inspection.checks[..], || Rc::clone(&handshakes));
        return match (&plan.events, &websocket.matched_by) {
            (Some(events), _) => {
                let listening = || Listener::new(websocket, events, shared_cursor());
                press_over(shared, preparation, coordinator, &clients, listening)
            }
            (None, None) => {
                let in_order = || WebSocket::<false>::new(websocket, checks, shared_cursor());
                press_over(shared, preparation, coordinator, &clients, in_order)
            }
            (None, Some(_)) => {
                let matching = || WebSocket::<true>::new(websocket, checks, shared_cursor());
                press_over(shared, preparation, coordinator, &clients, matching)
            }
        };
    }
    if plan.protocol.http3 {
        return press_http3(shared, preparation, coordinator);
    }
    match &plan.work {
        _ if plan.protocol.http2 => press_among(shared, preparation, coordinator, &clients, http2),
        // Users who may park learn of their servers, each of which selects a protocol.
        Work::Users(users) if users.may_park() => {
            press_among(shared, preparation, coordinator, &clients, ByAlpn::default)
        }
        Work::Users(_) => match &plan.events {
            Some(events) => press_among(shared, preparation, coordinator, &clients, || Switching::new(events)),
            None => press_among(shared, preparation, coordinator, &clients, keeping),
        },
        Work::Requests(_) if plan.events.is_some() => {
            let streaming = || {
                let events = plan.events.as_ref().expect("the arm is for plans with events");
                Http1::inspected_by(Streaming::new(events, Inspector::new(&plan.inspection, &plan.target)))
            };
            press_over(shared, preparation, coordinator, &clients, streaming)
        }
        Work::Requests(_) if plan.inspection.is_needed() => {
            press_over(shared, preparation, coordinator, &clients, inspected)
        }
        Work::Requests(_) => press_over(shared, preparation, coordinator, &clients, Http1::<()>::default),
    }
}

/// Runs the part of one thread in HTTP/3, whose servers all have TLS.
fn press_http3(
    shared: &Shared,
    preparation: Preparation<'_>,
    coordinator: &ThreadCoordinator<'_>,
) -> io::Result<Ended> {
    let (plan, servers) = (&shared.plan, Servers::of(&shared.plan));
    let client = |server| match servers.tls(server) {
        Some(tls) => QuicClient::new(tls).map_err(io::Error::other),
        None => Err(io::Error::other("HTTP/3 needs TLS")),
    };
    let mut clients = (0..servers.known()).map(client).collect::<io::Result<Vec<_>>>()?;
    press_by(shared, preparation, coordinator, |server| {
        while clients.len() <= server {
            let learnt = client(clients.len());
            clients
                .push(learnt.expect("a server is learnt of with TLS 1.3 in a run over HTTP/3, as the plan's own is"));
        }
        Http3::inspected_by(clients[server].clone(), &plan.inspection, &plan.target).watching(plan.events.as_ref())
    })
}

/// Runs the part of one thread whose servers may differ in having a client for TLS, and may be learnt of in the run.
fn press_among<S: Protocol>(
    shared: &Shared,
    preparation: Preparation<'_>,
    coordinator: &ThreadCoordinator<'_>,
    clients: &[Option<TlsClient>],
    protocol: impl Fn() -> S,
) -> io::Result<Ended> {
    let servers = Servers::of(&shared.plan);
    if !servers.may_be_learnt() && clients.iter().all(|client| client.is_some() == clients[0].is_some()) {
        return press_over(shared, preparation, coordinator, clients, protocol);
    }
    let mut learnt = Vec::new();
    press_by(shared, preparation, coordinator, move |server| {
        let known = clients.len();
        while known + learnt.len() <= server {
            learnt.push(servers.tls(known + learnt.len()).map(TlsConfig::client));
        }
        match clients.get(server).unwrap_or_else(|| &learnt[server - known]) {
            Some(client) => EitherTls::Tls(Box::new(OverTls::new(client, protocol()))),
            None => EitherTls::Plain(protocol()),
        }
    })
}

/// Runs the part of one thread whose servers all have a client for TLS, or none of them.
fn press_over<S: Protocol>(
    shared: &Shared,
    preparation: Preparation<'_>,
    coordinator: &ThreadCoordinator<'_>,
    clients: &[Option<TlsClient>],
    protocol: impl Fn() -> S,
) -> io::Result<Ended> {
    let secured: Option<Vec<&TlsClient>> = clients.iter().map(Option::as_ref).collect();
    match secured {
        Some(clients) => press_by(shared, preparation, coordinator, |server| OverTls::new(clients[server], protocol())),
        None => press_by(shared, preparation, coordinator, |_| protocol()),
    }
}

/// Runs the part of one thread in one protocol: when all threads are ready.
fn press_by<S: Protocol>(
    shared: &Shared,
    preparation: Preparation<'_>,
    coordinator: &ThreadCoordinator<'_>,
    protocol: impl FnMut(usize) -> S,
) -> io::Result<Ended> {
    let (Shared { plan, budget, .. }, number) = (shared, coordinator.number);
    let threads = plan.thread_count();
    let numbers = share(plan.prepared_connections(), threads, number);
    let source = match &plan.work {
        Work::Users(users) => {
            let part = ThreadPart {
                thread: number,
                threads,
                users: numbers.clone(),
                before: plan.users_before,
                keep_alive: plan.keep_alive,
            };
            Source::Users(CurrentUser { all: users.thread(part), current: 0, address: users.address(number) })
        }
        Work::Requests(requests) => Source::Requests(requests.cursor(number, threads).with_content_apart()),
    };
    // Slots that are prepared for more connections than planned have no share of the requests.
    let planned = share(plan.connections, threads, number);
    let pacer = plan.pacer(number, budget, &planned);
    if plan.is_scheduled() || plan.pace.max_rate().is_some() {
        clock::minimise_timer_slack();
    }
    let engine = Engine::new(plan, numbers, protocol, pacer, source, coordinator)?;
    let mut meter = ThreadMeter::start();
    drop(preparation);
    let time = shared.begin();
    shared.state.begins(time.now());
    meter.begin_time();
    let (ended, open) = engine.run(time)?;
    let used = meter.read(ended.idle);
    open.close();
    Ok((ended, used))
}

/// Returns the numbers of one thread's connections. The shares of threads differ by at most one.
fn share(connections: usize, threads: usize, number: usize) -> Range<usize> {
    let begin = |n: usize| n * (connections / threads) + n.min(connections % threads);
    begin(number)..begin(number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_connection_is_lost_or_shared_between_threads() {
        for (connections, threads) in [(10, 3), (1, 1), (7, 7), (1000, 16)] {
            let shares: Vec<_> = (0..threads).flat_map(|n| share(connections, threads, n)).collect();
            assert_eq!(shares, (0..connections).collect::<Vec<_>>());
        }
    }
}
