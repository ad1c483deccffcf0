//! The state of a virtual user that host functions get at.

use super::events::Events;
use super::fiber::Exit;
use super::interrupt::Interrupts;
use super::task::{Task, TaskEnd};
use crate::host::Host;
use crate::metrics::{CurrentTags, IterationInfo, Recorder};
use crate::shared::RunShared;
use rquickjs::Ctx;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// The part of the script that a virtual user is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The top level of the modules.
    Init,
    /// `setup`.
    Setup,
    /// An iteration of a scenario.
    Iteration,
    /// `teardown`.
    Teardown,
    /// `handleSummary`.
    Summary,
}

/// The state of a virtual user.
#[derive(Debug)]
pub struct Vu {
    /// What all virtual users share.
    pub run: Arc<RunShared>,
    /// The number that scripts see as `__VU`: 0 in the first pass, in `setup`, `teardown` and the summary.
    pub id: u64,
    /// The part of the script that is running.
    pub phase: Cell<Phase>,
    /// The metrics of the load thread.
    pub recorder: Rc<RefCell<Recorder>>,
    /// The tags that samples carry now.
    pub tags: RefCell<CurrentTags>,
    /// The counters that `k6/execution` shows.
    pub iteration: RefCell<IterationInfo>,
    /// Timers, and requests that go on beside the script.
    pub events: Events,
    /// The interruptions of the running task.
    pub interrupts: Rc<Interrupts>,
    /// The way from host functions back to the thread's loop.
    pub(crate) exit: Rc<Exit<Task, TaskEnd>>,
    /// What single modules know of this user.
    extras: Extras,
}

thread_local! {
    /// The virtual user that runs on the thread, with the address of its context.
    static RUNNING: RefCell<Option<(usize, Rc<Vu>)>> = const { RefCell::new(None) };
}

/// The time for which a virtual user runs on the thread.
struct Running;

impl Running {
    fn begin(context: usize, vu: &Rc<Vu>) -> Self {
        RUNNING.set(Some((context, vu.clone())));
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(None);
    }
}

/// What single modules know of a virtual user, one value of each type.
#[derive(Default)]
struct Extras(RefCell<Vec<Rc<dyn Any>>>);

impl fmt::Debug for Extras {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Extras({})", self.0.borrow().len())
    }
}

impl Vu {
    /// Returns the state of a virtual user with this number.
    #[must_use]
    pub fn new(run: Arc<RunShared>, id: u64, recorder: Rc<RefCell<Recorder>>) -> Rc<Self> {
        let interrupts = Rc::new(Interrupts::new(run.leave.clone(), run.control.flag()));
        Rc::new(Self {
            run,
            id,
            phase: Cell::new(Phase::Init),
            recorder,
            tags: RefCell::default(),
            iteration: RefCell::default(),
            events: Events::default(),
            interrupts,
            exit: Rc::default(),
            extras: Extras::default(),
        })
    }

    /// Returns what a module knows of the virtual user: the same value each time for a type.
    pub fn extra<T: Default + 'static>(&self) -> Rc<T> {
        let mut extras = self.extras.0.borrow_mut();
        let known = extras.iter().find(|known| known.is::<T>());
        if let Some(known) = known.and_then(|known| known.clone().downcast().ok()) {
            return known;
        }
        let made = Rc::new(T::default());
        extras.push(made.clone());
        made
    }

    /// Returns the addresses of what the state refers to, for prefetches.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        let own = [Rc::as_ptr(&self.exit).addr(), Rc::as_ptr(&self.interrupts).addr()];
        let extras = self.extras.0.borrow();
        let extras: [usize; 6] = std::array::from_fn(|at| extras.get(at).map_or(0, |extra| Rc::as_ptr(extra).addr()));
        own.into_iter().chain(extras)
    }

    /// Returns the virtual user that a context belongs to.
    ///
    /// # Panics
    /// In a context that was not made for a virtual user.
    pub fn of(ctx: &Ctx<'_>) -> Rc<Self> {
        let is_of = |(context, _): &&(usize, Rc<Self>)| *context == ctx.as_raw().as_ptr().addr();
        let running = RUNNING.with_borrow(|running| running.as_ref().filter(is_of).map(|(_, vu)| vu.clone()));
        running.unwrap_or_else(|| Self::attached(ctx))
    }

    /// Returns the virtual user that a context was given. It is found by way of memory that is the user's own, and that the CPU has not at
    /// hand when the user goes on.
    fn attached(ctx: &Ctx<'_>) -> Rc<Self> {
        ctx.userdata::<Host<Rc<Self>>>().expect("the context of a virtual user has one from its beginning").0.clone()
    }

    /// Calls a function during which the virtual user runs on this thread, in the context with this address.
    pub(crate) fn run<R>(self: &Rc<Self>, context: usize, run: impl FnOnce() -> R) -> R {
        let _running = Running::begin(context, self);
        run()
    }

    /// Gives a context its virtual user.
    pub fn attach(self: &Rc<Self>, ctx: &Ctx<'_>) {
        let _ = ctx.store_userdata(Host(self.clone()));
    }

    /// Returns whether the top level of the modules is running.
    pub fn is_init(&self) -> bool {
        self.phase.get() == Phase::Init
    }
}
