//! A worker thread: one tokio runtime that runs the engine and, beside it, the handlers that wait.
//!
//! The engine's poller is itself watched by tokio. One wake-up of tokio serves a whole batch of events, so tokio costs
//! next to nothing, and futures of the ecosystem run on the same thread.

use crate::app::{self, App};
use crate::engine::{Engine, Task};
use crate::response::Response;
use crate::seats::Seats;
use crate::settings::Settings;
use crate::watched;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{Notify, watch};
use tokio::task;
use tokio::time::{MissedTickBehavior, interval};
use torr_net::Token;

/// Turns of the engine before tasks get theirs; without a bound they would starve for tens of milliseconds.
const TURNS: usize = 16;
/// How often time-outs are looked for.
const TICK: Duration = Duration::from_millis(250);
/// The same while the server leaves.
const LEAVING_TICK: Duration = Duration::from_millis(20);

/// Answers of handlers that were waited for, on their way back to their connections.
#[derive(Default)]
struct Completed {
    answers: RefCell<Vec<(Token, Response)>>,
    arrived: Notify,
    /// Handlers that are being waited for.
    running: Cell<usize>,
}

/// Runs until `stop` says so and all requests under way are answered.
pub(crate) fn run(
    app: Arc<App>,
    settings: Arc<Settings>,
    seats: Seats,
    listener: OwnedFd,
    stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    runtime.block_on(serve(Engine::new(app, settings, seats, listener)?, stop))
}

async fn serve(mut engine: Engine, mut stop: watch::Receiver<bool>) -> io::Result<()> {
    let ready = watched::watch(engine.poller())?;
    let completed = Rc::new(Completed::default());
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut leaving = false;
    // The engine has more to do, but all others come first.
    let mut more = false;
    while !(leaving && engine.is_empty()) {
        tokio::select! {
            biased;
            guard = ready.readable(), if !more => {
                more = work(&mut engine, &completed)?;
                if !more {
                    guard?.clear_ready();
                }
            }
            () = completed.arrived.notified() => {}
            _ = tick.tick() => engine.tend()?,
            _ = stop.wait_for(|stop| *stop), if !leaving => {
                leaving = true;
                engine.leave();
                tick = interval(LEAVING_TICK);
            }
            () = task::yield_now(), if more => more = work(&mut engine, &completed)?,
        }
        complete(&mut engine, &completed);
        more |= engine.has_more();
    }
    Ok(())
}

/// Lets the engine work. Returns whether there may be more to do.
fn work(engine: &mut Engine, completed: &Rc<Completed>) -> io::Result<bool> {
    for _ in 0..TURNS {
        if !engine.turn()? {
            return Ok(false);
        }
        start(engine, completed);
        if completed.running.get() > 0 {
            return Ok(true);
        }
    }
    Ok(true)
}

/// Starts the handlers that have to be waited for.
fn start(engine: &mut Engine, completed: &Rc<Completed>) {
    for Task { token, mut future } in engine.take_tasks() {
        completed.running.set(completed.running.get() + 1);
        let completed = Rc::clone(completed);
        task::spawn_local(async move {
            // A panic is the handler's failure; what it leaves behind is the handler's own state only.
            let poll = |cx: &mut Context<'_>| {
                catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)))
                    .unwrap_or_else(|_| Poll::Ready(app::failed()))
            };
            let response = poll_fn(poll).await;
            completed.running.set(completed.running.get() - 1);
            completed.answers.borrow_mut().push((token, response));
            completed.arrived.notify_one();
        });
    }
}

/// Sends the answers of handlers that have ended.
fn complete(engine: &mut Engine, completed: &Completed) {
    let answers = completed.answers.take();
    if !answers.is_empty() {
        engine.complete(answers);
    }
}
