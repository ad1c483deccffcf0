//! One worker thread of a server: a tokio runtime that runs an engine and the tasks of async handlers, from start to stop.
//!
//! Tokio watches the engine's poller: one wake-up serves a whole batch of events, so tokio costs little, and futures of the
//! ecosystem run on the same thread. As long as no code of the application has run in the context of this runtime, the engine
//! waits for its events directly.

use crate::app::{self, Pending};
use crate::client::proxy_protocol::ProxyProtocol;
use crate::conn::admission::ConnectionLimits;
use crate::conn::context::{EngineContext, WorkerContext};
use crate::conn::engine::{AbortOnDrop, Acceptor, Engine, Task, Work};
use crate::conn::handover::{self, HandedOver, Returned, WorkerSignals};
use crate::conn::http2_streams::Http2Streams;
#[cfg(feature = "http3")]
use crate::conn::http3::{self, Http3Part};
use crate::conn::next::HyperProtocol;
use crate::conn::transport::{Plain, Proxied, Tls, Transport};
use crate::conn::watched;
use crate::message::response::Response;
use crate::message::stream::Stream;
use crate::observe::metrics_table::{Count, Gauge};
#[cfg(feature = "http3")]
use crate::observe::notice;
use crate::process::shutdown::{Ended, Remaining, Shutdown};
use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::runtime::{Builder, Handle, LocalOptions};
use tokio::sync::{Notify, watch};
use tokio::task;
use torr_net::{StopSignal, Token, clock};

/// The number of the engine's turns before tasks are polled, which would otherwise starve for tens of milliseconds.
const TURNS: usize = 16;
/// The interval at which a worker that stops notes what it waits for.
const NOTE: Duration = Duration::from_millis(100);

/// The results of tasks, on their way back to their connections, and the numbers of running tasks.
#[derive(Default)]
struct Completed {
    responses: RefCell<Vec<(Token, Response)>>,
    /// Bodies whose next part is ready.
    bodies: RefCell<Vec<(Token, Box<Stream>)>>,
    /// Connections that return to the engine.
    returned: RefCell<Vec<Returned>>,
    arrived: Notify,
    /// The number of tasks that wait for a handler or a body.
    running: Cell<usize>,
    /// The number of connections that have left the engine, and the number of those that use HTTP/2.
    elsewhere: Cell<usize>,
    http2: Cell<usize>,
    /// Whether code of the application has run in the context of this runtime, and may have left sockets or timers that only
    /// tokio can drive.
    is_shared: Cell<bool>,
    /// Signals connections that have left the engine that the server stops.
    leaving: watch::Sender<bool>,
    /// Signals them that streams and upgraded connections have to end.
    cutoff: watch::Sender<bool>,
}

/// Counts a task as running until it is dropped.
struct Counted(Rc<Completed>);

impl Counted {
    fn new(completed: &Rc<Completed>) -> Self {
        completed.running.set(completed.running.get() + 1);
        Self(Rc::clone(completed))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.running.set(self.0.running.get() - 1);
    }
}

/// Counts a connection that has left the engine until its task is dropped.
struct Elsewhere {
    counted: Counted,
    is_http2: bool,
}

impl Elsewhere {
    fn new(counted: Counted, protocol: HyperProtocol) -> Self {
        let (completed, is_http2) = (&counted.0, protocol == HyperProtocol::Http2);
        completed.elsewhere.set(completed.elsewhere.get() + 1);
        completed.http2.set(completed.http2.get() + usize::from(is_http2));
        Self { counted, is_http2 }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let completed = &self.counted.0;
        completed.elsewhere.set(completed.elsewhere.get() - 1);
        completed.http2.set(completed.http2.get() - usize::from(self.is_http2));
        completed.arrived.notify_one();
    }
}

/// The sockets of a worker.
pub(crate) struct Sockets {
    pub acceptor: Acceptor,
    /// The socket of HTTP/3, if the server supports that.
    #[cfg(feature = "http3")]
    pub http3: Option<Http3Part>,
}

/// HTTP/3 of a worker, as a task that ends when the server stops and the last of its connections has ended.
#[derive(Default)]
struct Http3Task {
    /// `None` without HTTP/3, and once the task has ended.
    running: Option<task::JoinHandle<()>>,
    /// The number of connections.
    open: Rc<Cell<usize>>,
}

impl Http3Task {
    /// Starts the task, if there is anything for it to do.
    #[cfg(feature = "http3")]
    fn start(part: Option<Http3Part>, worker: &Rc<WorkerContext>, completed: &Rc<Completed>) -> Self {
        let open = Rc::<Cell<usize>>::default();
        let leaving = completed.leaving.subscribe();
        let (worker, completed, counted) = (Rc::clone(worker), Rc::clone(completed), Rc::clone(&open));
        let running = part.map(|part| {
            completed.is_shared.set(true);
            task::spawn_local(async move {
                let _notified = NotifyAtEnd(completed);
                if let Err(error) = http3::serve(part, worker, leaving, counted).await {
                    notice::failure(format_args!("cannot serve HTTP/3: {error}"));
                }
            })
        });
        Self { running, open }
    }

    /// Returns whether the task runs. A panic goes on in the caller, as one of the engine does.
    async fn is_running(&mut self) -> bool {
        match &mut self.running {
            Some(running) if running.is_finished() => {
                let ended = running.await;
                self.running = None;
                if let Err(error) = ended
                    && error.is_panic()
                {
                    resume_unwind(error.into_panic());
                }
                false
            }
            running => running.is_some(),
        }
    }
}

/// Notifies the worker when it is dropped.
#[cfg(feature = "http3")]
struct NotifyAtEnd(Rc<Completed>);

#[cfg(feature = "http3")]
impl Drop for NotifyAtEnd {
    fn drop(&mut self) {
        self.0.arrived.notify_one();
    }
}

/// Serves the connections of a listener, over the transport of the settings. Calls `started` once connections are accepted.
/// `number` is the worker's number in its process.
pub(crate) fn run(
    cx: EngineContext,
    limits: ConnectionLimits,
    sockets: Sockets,
    stop_signal: Arc<StopSignal>,
    started: impl FnOnce(),
    number: usize,
    ended: &Ended,
) -> io::Result<()> {
    #[cfg(feature = "http3")]
    let Sockets { acceptor, http3 } = sockets;
    #[cfg(not(feature = "http3"))]
    let Sockets { acceptor } = sockets;
    let start_http3 = |worker: &Rc<WorkerContext>, completed: &Rc<Completed>| {
        #[cfg(feature = "http3")]
        return Http3Task::start(http3, worker, completed);
        #[cfg(not(feature = "http3"))]
        {
            let _ = (worker, completed);
            Http3Task::default()
        }
    };
    let is_proxied = cx.worker.settings.proxy_protocol == ProxyProtocol::Required;
    match (cx.worker.tls.is_some(), is_proxied) {
        (false, false) => {
            run_engine(Engine::<Plain>::new(cx, limits, acceptor, stop_signal)?, started, start_http3, number, ended)
        }
        (true, false) => {
            run_engine(Engine::<Tls>::new(cx, limits, acceptor, stop_signal)?, started, start_http3, number, ended)
        }
        (false, true) => run_engine(
            Engine::<Proxied<Plain>>::new(cx, limits, acceptor, stop_signal)?,
            started,
            start_http3,
            number,
            ended,
        ),
        (true, true) => run_engine(
            Engine::<Proxied<Tls>>::new(cx, limits, acceptor, stop_signal)?,
            started,
            start_http3,
            number,
            ended,
        ),
    }
}

/// Runs until the engine has stopped and tasks of handlers have ended, or their time is up.
fn run_engine<T: Transport>(
    engine: Engine<T>,
    started: impl FnOnce(),
    start_http3: impl FnOnce(&Rc<WorkerContext>, &Rc<Completed>) -> Http3Task,
    number: usize,
    ended: &Ended,
) -> io::Result<()> {
    started();
    let (sleeps, wakes) = (engine.worker().meter.elsewhere(), engine.worker().meter.elsewhere());
    let shutdown = Arc::clone(&engine.worker().shutdown);
    let mut builder = Builder::new_current_thread();
    // The time of tasks between two turns of the engine counts as busy.
    let (rests, begins) = (Arc::clone(engine.pulse()), Arc::clone(engine.pulse()));
    builder.on_thread_park(move || {
        sleeps.busy_until(clock::exact());
        rests.rest();
    });
    builder.on_thread_unpark(move || {
        wakes.awake_since(clock::exact());
        begins.begin(clock::coarse());
    });
    let runtime = builder.enable_all().build_local(LocalOptions::default())?;
    let served = runtime.block_on(async {
        let cutoff = serve(engine, start_http3, number, ended).await?;
        Ok(shutdown.finish(number, &cutoff).await)
    });
    let deadline = *served.as_ref().unwrap_or(&Instant::now());
    // Calls of `spawn_blocking` have the same deadline.
    let left = deadline.saturating_duration_since(Instant::now());
    shutdown.while_blocking(number, || runtime.shutdown_timeout(left));
    served.map(drop)
}

/// Serves until the last connection has ended. Returns the signal that ends upgraded connections.
async fn serve<T: Transport>(
    mut engine: Engine<T>,
    start_http3: impl FnOnce(&Rc<WorkerContext>, &Rc<Completed>) -> Http3Task,
    number: usize,
    ended: &Ended,
) -> io::Result<watch::Sender<bool>> {
    // The poller is readable whenever it has something to report itself.
    let poller = engine.poller().as_fd().try_clone_to_owned()?;
    let ready = watched::watch(poller, Interest::READABLE)?;
    let (completed, worker) = (Rc::new(Completed::default()), engine.worker());
    // An async handler or a router runs in the context of this runtime from its first call on.
    completed.is_shared.set(worker.app.runtime.is_none());
    let mut http3 = start_http3(&worker, &completed);
    let tokio = Handle::current().metrics();
    let mut noted = None;
    // The poller may have become ready while it was not watched.
    let mut more = true;
    while http3.is_running().await || !engine.has_left() || completed.elsewhere.get() > 0 {
        if !completed.is_shared.get() && tokio.num_alive_tasks() == 0 {
            serve_directly(&mut engine, &worker)?;
            start(&mut engine, &completed, &worker);
            more = true;
        } else {
            tokio::select! {
                biased;
                guard = ready.readable(), if !more => {
                    more = work(&mut engine, &completed, &worker)?;
                    if !more {
                        guard?.clear_ready();
                    }
                }
                () = completed.arrived.notified() => {}
                // The engine has more to do, but tasks come first.
                () = task::yield_now(), if more => more = work(&mut engine, &completed, &worker)?,
            }
        }
        complete(&mut engine, &completed, &worker);
        start(&mut engine, &completed, &worker);
        more |= engine.has_more();
        let (running, elsewhere) = (completed.running.get(), completed.elsewhere.get());
        worker.meter.set(Gauge::Waiting, (running - elsewhere) as u64);
        if engine.is_leaving() {
            leave(&engine, &completed, &worker.shutdown, ended);
            if noted.is_none_or(|since: Instant| since.elapsed() >= NOTE) {
                noted = Some(Instant::now());
                worker.shutdown.waits_for(
                    number,
                    Remaining { http3: http3.open.get(), ..remaining(&engine, &completed, &worker.http2_streams) },
                );
            }
        }
    }
    let cutoff = completed.cutoff.clone();
    // The application is dropped, so that tasks which serve it can end, such as those of a connection pool.
    let let_go = AssertUnwindSafe(move || {
        let handle = worker.app.runtime.clone();
        let _context = handle.as_ref().map(Handle::enter);
        drop((engine, worker));
    });
    if catch_unwind(let_go).is_err() {
        tracing::error!("the application panicked while it was dropped");
    }
    Ok(cutoff)
}

/// Runs the engine without tokio until a task has to be started.
fn serve_directly<T: Transport>(engine: &mut Engine<T>, worker: &WorkerContext) -> io::Result<()> {
    let _context = worker.app.enter();
    loop {
        engine.turn(true)?;
        if engine.has_tasks() || engine.is_leaving() {
            return Ok(());
        }
    }
}

/// Runs turns of the engine. Returns whether there may be more to do.
fn work<T: Transport>(
    engine: &mut Engine<T>,
    completed: &Rc<Completed>,
    worker: &Rc<WorkerContext>,
) -> io::Result<bool> {
    for _ in 0..TURNS {
        let context = worker.app.enter();
        let worked = engine.turn(false)?;
        drop(context);
        if !worked {
            return Ok(false);
        }
        start(engine, completed, worker);
        if completed.running.get() > 0 {
            return Ok(true);
        }
    }
    Ok(true)
}

/// Signals connections that the server stops, and that streams have to end.
fn leave<T: Transport>(engine: &Engine<T>, completed: &Completed, shutdown: &Shutdown, ended: &Ended) {
    if shutdown.begin(!engine.is_leaving_softly()) {
        ended.begins();
    }
    let turn_true = |value: &mut bool| !std::mem::replace(value, true);
    completed.leaving.send_if_modified(turn_true);
    if shutdown.streams_are_over() {
        completed.cutoff.send_if_modified(turn_true);
    }
}

/// Returns what the worker waits for.
fn remaining<T: Transport>(engine: &Engine<T>, completed: &Completed, streams: &Http2Streams) -> Remaining {
    let (http2, http1) = (completed.http2.get(), completed.elsewhere.get() - completed.http2.get());
    let mut remaining = engine.remaining();
    remaining.requests += http1;
    remaining.http2 = http2.saturating_sub(streams.connections());
    remaining.streams += streams.streams();
    // Each connection outside of the engine has a receiver, and each of HTTP/1.1 has a second one for its cut-off.
    remaining.upgraded = completed.cutoff.receiver_count().saturating_sub(http2 + 2 * http1);
    remaining
}

/// Starts the tasks that the engine has requested.
fn start<T: Transport>(engine: &mut Engine<T>, completed: &Rc<Completed>, worker: &Rc<WorkerContext>) {
    let mut waiters = Vec::new();
    for Task { token, work } in engine.take_tasks() {
        let counted = Counted::new(completed);
        match work {
            Work::Response(future) => {
                worker.meter.add(Count::Waited, 1);
                waiters
                    .push((token, AbortOnDrop(task::spawn_local(response(token, future, counted, Rc::clone(worker))))));
            }
            Work::Body(stream) => {
                waiters.push((token, AbortOnDrop(task::spawn_local(body(token, stream, counted, Rc::clone(worker))))));
            }
            Work::Connection(connection) => {
                completed.is_shared.set(true);
                let stays = Elsewhere::new(counted, connection.protocol);
                drop(task::spawn_local(elsewhere(connection, Rc::clone(worker), stays)));
            }
        }
    }
    waiters.into_iter().for_each(|(token, waiter)| engine.hold(token, waiter));
}

/// Waits for a handler's response.
async fn response(token: Token, future: Pending, counted: Counted, worker: Rc<WorkerContext>) {
    let response = app::survive(worker.app.within(future), || worker.app.panicked()).await;
    counted.0.responses.borrow_mut().push((token, response));
    counted.0.arrived.notify_one();
}

/// Waits for the next part of a body.
async fn body(token: Token, mut stream: Box<Stream>, counted: Counted, worker: Rc<WorkerContext>) {
    let waiting = Box::pin(async move {
        stream.wait().await;
        stream
    });
    let stream = worker.app.within(waiting).await;
    counted.0.bodies.borrow_mut().push((token, stream));
    counted.0.arrived.notify_one();
}

/// Serves a connection that has left the engine.
async fn elsewhere(connection: HandedOver, worker: Rc<WorkerContext>, stays: Elsewhere) {
    let completed = &stays.counted.0;
    let signals = WorkerSignals { leaving: completed.leaving.subscribe(), cutoff: completed.cutoff.subscribe() };
    if let Some(returned) = handover::serve(connection, worker, signals).await {
        completed.returned.borrow_mut().push(returned);
    }
}

/// Passes the results of tasks to the engine.
fn complete<T: Transport>(engine: &mut Engine<T>, completed: &Completed, worker: &WorkerContext) {
    let (responses, bodies, returned) =
        (completed.responses.take(), completed.bodies.take(), completed.returned.take());
    if responses.is_empty() && bodies.is_empty() && returned.is_empty() {
        return;
    }
    let _context = worker.app.enter();
    if !responses.is_empty() {
        engine.complete(responses);
    }
    for (token, stream) in bodies {
        engine.resume(token, stream);
    }
    for returned in returned {
        engine.take_back(returned);
    }
}
