//! Interruptions: the end of an iteration before its time, which a script cannot catch.

use rquickjs::{Ctx, Error, Exception, qjs};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The state of a virtual user's interruptions.
#[derive(Debug, Default)]
pub struct Interrupts {
    /// Whether the running task is interrupted.
    is_set: Cell<bool>,
    /// The time at which code that never waits is interrupted.
    deadline: Cell<Option<Instant>>,
    /// Whether the whole run ends at once.
    leave: Arc<AtomicBool>,
    /// Whether the run is to end, which interrupts iterations and `setup`.
    stop: Arc<AtomicBool>,
    /// Whether the running task is one of these.
    ends_with_run: Cell<bool>,
}

impl Interrupts {
    /// Returns the interruptions of a virtual user of a run that ends at once when `leave` is set, and after `teardown` when `stop` is.
    pub fn new(leave: Arc<AtomicBool>, stop: Arc<AtomicBool>) -> Self {
        Self { leave, stop, ..Self::default() }
    }

    /// Whether the running task is interrupted.
    pub fn is_set(&self) -> bool {
        self.is_set.get()
    }

    /// Interrupts the running task.
    pub fn set(&self) {
        self.is_set.set(true);
    }

    /// Begins a task that ends at a time, even if its code never waits, and before if it ends with the run.
    pub fn begin(&self, deadline: Option<Instant>, ends_with_run: bool) {
        self.is_set.set(false);
        self.deadline.set(deadline);
        self.ends_with_run.set(ends_with_run);
    }

    /// Moves the time at which code of the running task that never waits is interrupted.
    pub fn limit(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
    }

    /// Returns what the script engine asks now and then while it runs code.
    pub fn handler(self: &Rc<Self>) -> Box<dyn FnMut() -> bool> {
        let interrupts = self.clone();
        Box::new(move || {
            let late = || interrupts.deadline.get().is_some_and(|deadline| Instant::now() >= deadline);
            let stops = || interrupts.ends_with_run.get() && interrupts.stop.load(Ordering::Relaxed);
            if !interrupts.is_set() && (interrupts.leave.load(Ordering::Relaxed) || stops() || late()) {
                interrupts.set();
            }
            interrupts.is_set()
        })
    }
}

/// Throws the error of an interruption.
pub fn throw(ctx: &Ctx<'_>) -> Error {
    match Exception::from_message(ctx.clone(), "the iteration was interrupted") {
        Ok(error) => {
            let value = error.into_value();
            // SAFETY: both belong to this context, and the value lives beyond the call.
            unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), value.as_raw()) };
            ctx.throw(value)
        }
        Err(error) => error,
    }
}
