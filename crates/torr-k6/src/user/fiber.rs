//! The stack of a virtual user: its calls run there, so that a host function can suspend the script and not the thread.

use super::wanted::{Wanted, Woken};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::fmt;
use std::io;
use std::rc::Rc;

/// The size of a stack in bytes. Only pages that are used take memory.
const STACK: usize = 512 * 1024;
/// The part of a stack that scripts may use; the rest is for the host functions that they call.
pub const SCRIPT_STACK: usize = 256 * 1024;

/// What a virtual user is resumed with.
#[derive(Debug)]
pub enum Resume<T> {
    /// A task that begins.
    Begin(T),
    /// The outcome of a wait.
    Woken(Woken),
    /// The end of the running task before its time.
    Interrupt,
}

/// What a virtual user is suspended with.
#[derive(Debug)]
pub enum Suspended<E> {
    /// The script waits.
    Waits(Wanted),
    /// The task has ended.
    Ended(E),
}

/// The way back from a host function to the thread's loop.
type Way<T, E> = Yielder<Resume<T>, Suspended<E>>;

/// A stack with what runs on it. A task has ended before another one begins, and before the stack is dropped.
pub struct Fiber<T: 'static, E: 'static> {
    coroutine: Coroutine<Resume<T>, Suspended<E>, (), DefaultStack>,
}

/// The entrance to the stack's way back, for the host functions of its tasks.
pub struct Exit<T, E>(Cell<Option<*const Way<T, E>>>);

impl<T, E> Default for Exit<T, E> {
    fn default() -> Self {
        Self(Cell::new(None))
    }
}

impl<T, E> fmt::Debug for Exit<T, E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Exit({})", self.0.get().is_some())
    }
}

impl<T, E> Exit<T, E> {
    /// Suspends the running task until it is woken or interrupted. Without a stack of its own nothing can be waited for.
    pub fn suspend(&self, wanted: Wanted) -> Option<Resume<T>> {
        let way = self.0.get()?;
        // SAFETY: the pointer is set only while the body of the fiber runs, which owns what it points to, and it is used only
        // by calls from within that body.
        let way = unsafe { &*way };
        Some(way.suspend(Suspended::Waits(wanted)))
    }
}

impl<T: 'static, E: 'static> Fiber<T, E> {
    /// Returns a stack on which `run` runs each task. `exit` belongs to this stack alone.
    ///
    /// # Errors
    /// If the system has no memory for the stack.
    pub fn new(exit: Rc<Exit<T, E>>, mut run: impl FnMut(T) -> E + 'static) -> io::Result<Self> {
        let coroutine = Coroutine::with_stack(DefaultStack::new(STACK)?, move |way: &Way<T, E>, first| {
            exit.0.set(Some(way));
            let mut next = first;
            // Anything else than a task ends the stack.
            while let Resume::Begin(task) = next {
                let end = run(task);
                next = way.suspend(Suspended::Ended(end));
            }
            exit.0.set(None);
        });
        Ok(Self { coroutine })
    }

    /// Resumes what runs on the stack. Returns `None` once the stack has ended.
    pub fn resume(&mut self, with: Resume<T>) -> Option<Suspended<E>> {
        if self.coroutine.done() {
            return None;
        }
        match self.coroutine.resume(with) {
            CoroutineResult::Yield(suspended) => Some(suspended),
            CoroutineResult::Return(()) => None,
        }
    }
}

impl<T: 'static, E: 'static> Drop for Fiber<T, E> {
    fn drop(&mut self) {
        if !self.coroutine.started() || self.coroutine.done() {
            return;
        }
        // A task that waits ends by the interruption, then the stack's body itself; calls of the script engine must not be
        // unwound.
        for _ in 0..MOST_WAITS_OF_AN_END {
            if self.resume(Resume::Interrupt).is_none() {
                return;
            }
        }
        // SAFETY: what is on the stack is leaked, and nothing points into it.
        unsafe { self.coroutine.force_reset() };
    }
}

/// How often a task may wait again although it was interrupted, before its stack is given up.
const MOST_WAITS_OF_AN_END: usize = 16;
