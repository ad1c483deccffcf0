//! The events of a virtual user: timers, requests that go on beside the script, rejected promises without a handler.

use super::exchange::{Outcome, Outgoing};
use rquickjs::{Ctx, Function, Persistent, Result, Value};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The events of a virtual user.
#[derive(Default)]
pub struct Events {
    last_id: Cell<u64>,
    /// The timers by the times at which they are due, and their numbers.
    timers: RefCell<BTreeMap<(Instant, u64), Timer>>,
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

/// A timer.
#[derive(Clone)]
struct Timer {
    every: Option<Duration>,
    call: Persistent<Function<'static>>,
    with: Vec<Persistent<Value<'static>>>,
}

impl std::fmt::Debug for Timer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Timer").field("every", &self.every).finish_non_exhaustive()
    }
}

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
        let with = with.into_iter().map(|value| Persistent::save(ctx, value)).collect();
        let every = repeats.then(|| after.max(Duration::from_millis(1)));
        let due =
            Instant::now().checked_add(after).unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400 * 365));
        self.timers.borrow_mut().insert((due, id), Timer { every, call: Persistent::save(ctx, call), with });
        id
    }

    /// Removes a timer.
    pub fn remove_timer(&self, id: u64) {
        let mut timers = self.timers.borrow_mut();
        let key = timers.keys().find(|(_, other)| *other == id).copied();
        let removed = key.and_then(|key| timers.remove(&key));
        drop(timers);
        drop(removed);
    }

    /// Returns the time of the next timer.
    pub fn next_timer(&self) -> Option<Instant> {
        self.timers.borrow().first_key_value().map(|((due, _), _)| *due)
    }

    /// Calls the function of a timer whose time has come. Returns whether there was one.
    ///
    /// # Errors
    /// Whatever the function throws.
    pub fn call_due(&self, ctx: &Ctx<'_>) -> Result<bool> {
        let now = Instant::now();
        let mut timers = self.timers.borrow_mut();
        let Some(first) = timers.first_entry().filter(|timer| timer.key().0 <= now) else { return Ok(false) };
        let ((_, id), timer) = first.remove_entry();
        if let Some(every) = timer.every {
            timers.insert((now + every, id), timer.clone());
        }
        drop(timers);
        let Timer { call, with, .. } = timer;
        let mut args = rquickjs::function::Args::new(ctx.clone(), with.len());
        for value in with {
            args.push_arg(value.restore(ctx)?)?;
        }
        call.restore(ctx)?.call_arg::<Value<'_>>(args)?;
        Ok(true)
    }

    /// Begins a request that goes on beside the script. `settle` is called with its outcome.
    pub fn begin(&self, outgoing: Outgoing, settle: Settle) {
        self.promises.borrow_mut().push((outgoing.id, settle));
        self.outbox.borrow_mut().push(outgoing);
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

    /// Whether timers or requests are pending.
    pub fn are_pending(&self) -> bool {
        !self.timers.borrow().is_empty() || !self.promises.borrow().is_empty()
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
        let timers = std::mem::take(&mut *self.timers.borrow_mut());
        let promises = std::mem::take(&mut *self.promises.borrow_mut());
        let rejected = std::mem::take(&mut *self.rejected.borrow_mut());
        self.outbox.borrow_mut().clear();
        self.arrived.borrow_mut().clear();
        drop((timers, promises, rejected));
    }
}
