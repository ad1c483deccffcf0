//! The events of a virtual user: timers, requests and sockets that go on beside the script, rejected promises without a handler.

use super::exchange::{Outcome, Outgoing};
use super::sockets::UserSockets;
use super::timers::Timers;
use rquickjs::{Ctx, Function, Persistent, Result, Value};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// The events of a virtual user.
#[derive(Default)]
pub struct Events {
    last_id: Cell<u64>,
    /// The timers.
    timers: Timers,
    /// The WebSockets.
    pub sockets: UserSockets,
    /// Requests that are to begin and go on beside the script.
    pub outbox: RefCell<Vec<Outgoing>>,
    /// Outcomes of such requests.
    pub arrived: RefCell<Vec<Outcome>>,
    /// The promises of such requests.
    promises: RefCell<Vec<(u64, Settle)>>,
    /// The promises that were rejected without a handler, each with the text of its reason.
    pub rejected: RefCell<Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Events").field("timers", &self.timers).finish_non_exhaustive()
    }
}

/// What settles the promise of a request, given the outcome.
pub type Settle = Box<dyn for<'js> FnOnce(&Ctx<'js>, Outcome) -> Result<()>>;

impl Events {
    /// Returns a number that no other event of this user has.
    pub fn new_id(&self) -> u64 {
        self.last_id.set(self.last_id.get() + 1);
        self.last_id.get()
    }

    /// Calls a function after a time, and again and again if it `repeats`. Returns the number of the timer.
    pub fn add_timer<'js>(
        &self,
        ctx: &Ctx<'js>,
        call: Function<'js>,
        after: Duration,
        repeats: bool,
        with: Vec<Value<'js>>,
    ) -> u64 {
        let id = self.new_id();
        self.timers.add(ctx, id, call, after, repeats, with);
        id
    }

    /// Removes a timer.
    pub fn remove_timer(&self, id: u64) {
        self.timers.remove(id);
    }

    /// Returns the time of the next timer.
    pub fn next_timer(&self) -> Option<Instant> {
        self.timers.next()
    }

    /// Calls the function of a timer whose time has come. Returns whether there was one.
    ///
    /// # Errors
    /// Whatever the function throws.
    pub fn call_due(&self, ctx: &Ctx<'_>) -> Result<bool> {
        self.timers.call_due(ctx)
    }

    /// Begins a request that goes on beside the script. `settle` is called with its outcome.
    pub fn begin(&self, outgoing: Outgoing, settle: Settle) {
        self.promises.borrow_mut().push((outgoing.id, settle));
        self.outbox.borrow_mut().push(outgoing);
    }

    /// Notes the outcome of a request that was not sent. `settle` is called with it as with that of any other request.
    pub fn refuse(&self, outcome: Outcome, settle: Settle) {
        self.promises.borrow_mut().push((outcome.id, settle));
        self.arrived.borrow_mut().push(outcome);
    }

    /// Settles the promises of the requests that have an outcome. Returns whether there were any.
    ///
    /// # Errors
    /// If the script engine has no memory left.
    pub fn settle(&self, ctx: &Ctx<'_>) -> Result<bool> {
        let mut any = false;
        loop {
            let Some(outcome) = self.take_awaited() else { return Ok(any) };
            let at = self.promises.borrow().iter().position(|(id, _)| *id == outcome.id);
            let Some(at) = at else { continue };
            let (_, settle) = self.promises.borrow_mut().remove(at);
            settle(ctx, outcome)?;
            any = true;
        }
    }

    /// Takes an outcome that a promise waits for.
    fn take_awaited(&self) -> Option<Outcome> {
        let promises = self.promises.borrow();
        let mut arrived = self.arrived.borrow_mut();
        let at = arrived.iter().position(|outcome| promises.iter().any(|(id, _)| *id == outcome.id))?;
        Some(arrived.remove(at))
    }

    /// Whether timers or requests are pending, or sockets are open.
    pub fn are_pending(&self) -> bool {
        !self.timers.is_empty() || !self.promises.borrow().is_empty() || self.sockets.are_awaited()
    }

    /// Whether nothing is pending, and no promise was rejected without a handler.
    pub fn are_idle(&self) -> bool {
        !self.are_pending() && self.rejected.borrow().is_empty()
    }

    /// Notes that a promise was rejected without a handler, or that it has got one.
    pub fn note_rejection<'js>(&self, ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, is_handled: bool) {
        let promise = Persistent::save(ctx, promise);
        let mut rejected = self.rejected.borrow_mut();
        match is_handled {
            true => rejected.retain(|(other, _)| *other != promise),
            false => rejected.push((promise, Persistent::save(ctx, reason))),
        }
    }

    /// Forgets everything that is pending.
    pub fn clear(&self) {
        self.timers.clear();
        self.sockets.clear();
        let promises = std::mem::take(&mut *self.promises.borrow_mut());
        let rejected = std::mem::take(&mut *self.rejected.borrow_mut());
        self.outbox.borrow_mut().clear();
        self.arrived.borrow_mut().clear();
        drop((promises, rejected));
    }
}
