//! Timers of scripts: functions that are called after a time.

use rquickjs::{Ctx, Function, Persistent, Result, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time after which a timer is due at the latest.
const LONGEST: Duration = Duration::from_secs(86_400 * 365);

/// Timers by the times at which they are due, and their numbers.
#[derive(Debug, Default)]
pub struct Timers(RefCell<BTreeMap<(Instant, u64), Timer>>);

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

impl Timers {
    /// Calls a function after a time, and again and again if it `repeats`. The number is the timer's own.
    pub fn add<'js>(
        &self,
        ctx: &Ctx<'js>,
        id: u64,
        call: Function<'js>,
        after: Duration,
        repeats: bool,
        with: Vec<Value<'js>>,
    ) {
        let with = with.into_iter().map(|value| Persistent::save(ctx, value)).collect();
        let every = repeats.then(|| after.max(Duration::from_millis(1)));
        let now = Instant::now();
        let due = now.checked_add(after).unwrap_or_else(|| now + LONGEST);
        self.0.borrow_mut().insert((due, id), Timer { every, call: Persistent::save(ctx, call), with });
    }

    /// Removes a timer.
    pub fn remove(&self, id: u64) {
        let mut timers = self.0.borrow_mut();
        let key = timers.keys().find(|(_, other)| *other == id).copied();
        let removed = key.and_then(|key| timers.remove(&key));
        drop(timers);
        drop(removed);
    }

    /// Returns the time of the next timer.
    pub fn next(&self) -> Option<Instant> {
        self.0.borrow().first_key_value().map(|((due, _), _)| *due)
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Removes all.
    pub fn clear(&self) {
        let timers = std::mem::take(&mut *self.0.borrow_mut());
        drop(timers);
    }

    /// Calls the function of a timer whose time has come. Returns whether there was one.
    ///
    /// # Errors
    /// Whatever the function throws.
    pub fn call_due(&self, ctx: &Ctx<'_>) -> Result<bool> {
        let now = Instant::now();
        let mut timers = self.0.borrow_mut();
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
}
