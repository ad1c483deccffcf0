//! A worker thread: one tokio runtime that runs the engine and, beside it, the handlers that wait.
//!
//! As long as there is no task, the engine waits for its events directly. Otherwise its poller is itself watched by tokio:
//! one wake-up serves a whole batch of events, so tokio costs next to nothing, and futures of the ecosystem run on the same
//! thread.

use crate::app::{self, Pending};
use crate::context::Desk;
use crate::engine::{Engine, Task, Work};
use crate::handover::{self, Handed, Returned};
use crate::response::Response;
use crate::stream::Stream;
use crate::telemetry::{Count, Gauge};
use crate::watched;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use tokio::runtime::{Builder, Handle, LocalOptions};
use tokio::sync::{Notify, watch};
use tokio::task::{self, JoinHandle};
use torr_net::{Token, clock};

/// Turns of the engine before tasks get theirs; without a bound they would starve for tens of milliseconds.
const TURNS: usize = 16;

/// Answers of handlers that were waited for, on their way back to their connections.
#[derive(Default)]
struct Completed {
    answers: RefCell<Vec<(Token, Response)>>,
    /// Bodies of which more has come.
    bodies: RefCell<Vec<(Token, Stream)>>,
    /// Connections that come back to the engine.
    returned: RefCell<Vec<Returned>>,
    arrived: Notify,
    /// Tasks that are being waited for.
    running: Cell<usize>,
    /// Connections that have left the engine.
    elsewhere: Cell<usize>,
    /// Tells these that the server leaves.
    leaving: watch::Sender<bool>,
}

/// A task that ends with this value.
pub(crate) struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Counts a task among those that are running, until it ends in any way.
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

/// Counts a task among those that serve a connection which has left the engine.
struct Elsewhere(Counted);

impl Elsewhere {
    fn new(counted: Counted) -> Self {
        counted.0.elsewhere.set(counted.0.elsewhere.get() + 1);
        Self(counted)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let completed = &self.0.0;
        completed.elsewhere.set(completed.elsewhere.get() - 1);
        completed.arrived.notify_one();
    }
}

/// Runs until the engine has left.
pub(crate) fn run(engine: Engine) -> io::Result<()> {
    let (sleeps, wakes) = (engine.desk().meter.elsewhere(), engine.desk().meter.elsewhere());
    let mut builder = Builder::new_current_thread();
    // Tasks work as well, whatever they do between two of the engine's turns.
    builder.on_thread_park(move || sleeps.busy_until(clock::exact()));
    builder.on_thread_unpark(move || wakes.awake_since(clock::exact()));
    let runtime = builder.enable_all().build_local(LocalOptions::default())?;
    let ended = runtime.block_on(serve(engine));
    // Without waiting for calls of `spawn_blocking` that nobody waits for any more.
    runtime.shutdown_background();
    ended
}

async fn serve(mut engine: Engine) -> io::Result<()> {
    let ready = watched::watch(engine.poller())?;
    let (completed, desk) = (Rc::new(Completed::default()), engine.desk());
    let tokio = Handle::current().metrics();
    // What the poller had to tell while nobody asked tokio may still be untold.
    let mut more = true;
    while !engine.has_left() || completed.elsewhere.get() > 0 {
        if tokio.num_alive_tasks() == 0 {
            // Nobody else lives here, so there is nobody whom it would hold up to wait in the kernel itself.
            engine.turn(true)?;
            start(&mut engine, &completed, &desk);
            more = true;
        } else {
            tokio::select! {
                biased;
                guard = ready.readable(), if !more => {
                    more = work(&mut engine, &completed, &desk)?;
                    if !more {
                        guard?.clear_ready();
                    }
                }
                () = completed.arrived.notified() => {}
                // The engine has more to do, but all others come first.
                () = task::yield_now(), if more => more = work(&mut engine, &completed, &desk)?,
            }
        }
        complete(&mut engine, &completed);
        start(&mut engine, &completed, &desk);
        more |= engine.has_more();
        let (running, elsewhere) = (completed.running.get(), completed.elsewhere.get());
        desk.meter.set(Gauge::Waiting, (running - elsewhere) as u64);
        completed.leaving.send_if_modified(|leaving| !std::mem::replace(leaving, engine.is_leaving()) && *leaving);
    }
    Ok(())
}

/// Lets the engine work. Returns whether there may be more to do.
fn work(engine: &mut Engine, completed: &Rc<Completed>, desk: &Rc<Desk>) -> io::Result<bool> {
    for _ in 0..TURNS {
        if !engine.turn(false)? {
            return Ok(false);
        }
        start(engine, completed, desk);
        if completed.running.get() > 0 {
            return Ok(true);
        }
    }
    Ok(true)
}

/// Starts tasks for what has to be waited for.
fn start(engine: &mut Engine, completed: &Rc<Completed>, desk: &Rc<Desk>) {
    let mut waiters = Vec::new();
    for Task { token, work } in engine.take_tasks() {
        let counted = Counted::new(completed);
        match work {
            Work::Answer(future) => {
                desk.meter.add(Count::Waited, 1);
                waiters.push((token, Running(task::spawn_local(answer(token, future, counted, Rc::clone(desk))))));
            }
            Work::Body(stream) => waiters.push((token, Running(task::spawn_local(body(token, stream, counted))))),
            Work::HandOver(handed) => {
                drop(task::spawn_local(elsewhere(handed, Rc::clone(desk), Elsewhere::new(counted))));
            }
        }
    }
    waiters.into_iter().for_each(|(token, waiter)| engine.hold(token, waiter));
}

/// Waits for a handler.
async fn answer(token: Token, future: Pending, counted: Counted, desk: Rc<Desk>) {
    let response = app::survive(future, || app::panicked(&desk)).await;
    counted.0.answers.borrow_mut().push((token, response));
    counted.0.arrived.notify_one();
}

/// Waits for more of a body.
async fn body(token: Token, mut stream: Stream, counted: Counted) {
    stream.wait().await;
    counted.0.bodies.borrow_mut().push((token, stream));
    counted.0.arrived.notify_one();
}

/// Serves a connection that has left the engine.
async fn elsewhere(handed: Handed, desk: Rc<Desk>, stays: Elsewhere) {
    let leaving = stays.0.0.leaving.subscribe();
    if let Some(returned) = handover::serve(handed, desk, leaving).await {
        stays.0.0.returned.borrow_mut().push(returned);
    }
}

/// Sends what has been waited for.
fn complete(engine: &mut Engine, completed: &Completed) {
    let answers = completed.answers.take();
    if !answers.is_empty() {
        engine.complete(answers);
    }
    for (token, stream) in completed.bodies.take() {
        engine.resume(token, stream);
    }
    for returned in completed.returned.take() {
        engine.take_back(returned);
    }
}
