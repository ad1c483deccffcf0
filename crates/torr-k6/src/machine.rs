//! A virtual user as the thread's loop sees it: tasks that begin, wait, go on and end.

mod heap;
mod instance;
mod near;
#[cfg(test)]
mod tests;
mod thrown;

use crate::error::{ErrorKind, ScriptError};
use crate::modules::Program;
use crate::options::duration;
use crate::user::exchange::{Outcome, Refusal};
use crate::user::fiber::{Fiber, Resume, Suspended};
use crate::user::{Task, TaskEnd, Vu, Wanted, Woken};
use instance::Instance;
pub use near::Near;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The longest time that the top level of a script may take.
const LOAD_TIMEOUT: Duration = Duration::from_secs(600);

/// A virtual user with its stack.
pub struct Machine {
    /// The state that host functions share.
    pub vu: Rc<Vu>,
    fiber: Fiber<Task, TaskEnd>,
    /// The addresses of the script engine's own state.
    engine: [usize; 3],
}

/// What a virtual user does next.
#[derive(Debug)]
pub enum Pending {
    /// The task waits.
    Waits(Wanted),
    /// The task has ended.
    Ended(TaskEnd),
}

impl Machine {
    /// Returns a virtual user whose modules are not loaded yet.
    ///
    /// # Errors
    /// If the system has no memory for it.
    pub fn new(vu: Rc<Vu>, program: &Arc<Program>) -> Result<Self, ScriptError> {
        let instance = Instance::new(vu.clone(), program.clone())?;
        let engine = instance.addresses();
        let failed = |error| ScriptError::new(ErrorKind::Other, format!("cannot start a virtual user: {error}"));
        let fiber = Fiber::new(vu.exit.clone(), move |task| instance.run(task)).map_err(failed)?;
        Ok(Self { vu, fiber, engine })
    }

    /// Runs the top level of all modules to its end on this thread. One that takes too long ends with an error.
    pub fn load(&mut self) -> TaskEnd {
        let end = self.load_within(LOAD_TIMEOUT);
        self.fiber.trim();
        end
    }

    /// Returns the memory that is used soon after the virtual user goes on.
    pub fn near(&self) -> Near {
        Near::new(self.fiber.near(), &self.vu, self.engine)
    }

    fn load_within(&mut self, limit: Duration) -> TaskEnd {
        let deadline = Instant::now().checked_add(limit);
        match self.run(Task::Init, deadline) {
            TaskEnd::Interrupted if deadline.is_some_and(|deadline| deadline <= Instant::now()) => {
                let why = format!("the top level of the script took longer than {}", duration::format(limit));
                TaskEnd::Threw(Box::new(ScriptError::new(ErrorKind::Timeout, why)))
            }
            end => end,
        }
    }

    /// Begins a task. The one before has ended. Code that never waits is interrupted at the `deadline`.
    pub fn begin(&mut self, task: Task, deadline: Option<Instant>) -> Pending {
        self.vu.interrupts.begin(deadline, matches!(task, Task::Setup | Task::Iteration(_)));
        self.resume(Resume::Begin(task))
    }

    /// Goes on with a task that waits.
    pub fn wake(&mut self, woken: Woken) -> Pending {
        self.resume(Resume::Woken(woken))
    }

    /// Goes on with a task that waits. Code that does not wait again is interrupted at the `deadline`, instead of that of the task.
    pub fn go_on(&mut self, woken: Woken, deadline: Option<Instant>) -> Pending {
        self.vu.interrupts.limit(deadline);
        self.wake(woken)
    }

    /// Interrupts a task that waits.
    pub fn interrupt(&mut self) -> Pending {
        self.resume(Resume::Interrupt)
    }

    fn resume(&mut self, with: Resume<Task>) -> Pending {
        let [_, context, _] = self.engine;
        match self.vu.run(context, || self.fiber.resume(with)) {
            Some(Suspended::Waits(wanted)) => Pending::Waits(wanted),
            Some(Suspended::Ended(end)) => Pending::Ended(end),
            None => Pending::Ended(TaskEnd::Interrupted),
        }
    }

    /// Runs a task to its end on this thread, where no load engine is there: the thread sleeps as the script does, and requests fail.
    pub fn run(&mut self, task: Task, deadline: Option<Instant>) -> TaskEnd {
        let mut pending = self.begin(task, deadline);
        loop {
            let wanted = match pending {
                Pending::Ended(end) => return end,
                Pending::Waits(wanted) => wanted,
            };
            pending = match wanted {
                Wanted::Sleep(time) => self.sleep(time, deadline),
                Wanted::Exchange(outgoing) => self.wake(Woken::Exchanged(Box::new(refused(outgoing.id)))),
                Wanted::Mail(_) => self.interrupt(),
                Wanted::Event(until) => {
                    let refused: Vec<_> =
                        self.vu.events.outbox.borrow_mut().drain(..).map(|outgoing| refused(outgoing.id)).collect();
                    match (refused.is_empty(), until) {
                        (true, Some(until)) => self.sleep(until.saturating_duration_since(Instant::now()), deadline),
                        (true, None) => self.interrupt(),
                        (false, _) => {
                            self.vu.events.arrived.borrow_mut().extend(refused);
                            self.wake(Woken::Now)
                        }
                    }
                }
            };
        }
    }

    fn sleep(&mut self, time: Duration, deadline: Option<Instant>) -> Pending {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        thread::sleep(left.map_or(time, |left| left.min(time)));
        match left.is_some_and(|left| left < time) {
            true => self.interrupt(),
            false => self.wake(Woken::Now),
        }
    }
}

/// Returns the outcome of a request that cannot be sent.
fn refused(id: u64) -> Outcome {
    let why = "requests are not supported here: use them in setup, teardown or the functions of scenarios";
    Outcome::refused(id, Refusal::new(1000, why))
}
