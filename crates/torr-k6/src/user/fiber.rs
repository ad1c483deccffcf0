//! The stack of a virtual user: its calls run there, so that a host function can suspend the script and not the thread.

use super::wanted::{Wanted, Woken};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use rustix::mm::{Advice, madvise};
use std::cell::Cell;
use std::fmt;
use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::ptr;
use std::rc::Rc;

/// The size of a stack in bytes. Only pages that are used take memory.
const STACK: usize = 512 * 1024;
/// The part of a stack that scripts may use; the rest is for the host functions that they call.
pub const SCRIPT_STACK: usize = 256 * 1024;
/// More bytes than the calls take that suspend what runs on a stack.
const SUSPENSION: usize = 4 * 1024;
/// The bytes below the place of a suspension that the calls of most tasks take once it goes on.
const BELOW: usize = 3 * 1024;
/// The most bytes above the place of a suspension that are used soon.
const ABOVE: usize = 4 * 1024;

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
    exit: Rc<Exit<T, E>>,
    /// The addresses of the stack.
    addresses: Range<usize>,
}

/// The entrance to the stack's way back, for the host functions of its tasks.
pub struct Exit<T, E> {
    way: Cell<Option<*const Way<T, E>>>,
    /// The address on the stack at which what runs there was suspended last.
    place: Cell<usize>,
}

impl<T, E> Default for Exit<T, E> {
    fn default() -> Self {
        Self { way: Cell::new(None), place: Cell::new(0) }
    }
}

impl<T, E> fmt::Debug for Exit<T, E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Exit({})", self.way.get().is_some())
    }
}

impl<T, E> Exit<T, E> {
    /// Suspends the running task until it is woken or interrupted. Without a stack of its own nothing can be waited for.
    pub fn suspend(&self, wanted: Wanted) -> Option<Resume<T>> {
        let way = self.way.get()?;
        // SAFETY: the pointer is set only while the body of the fiber runs, which owns what it points to, and it is used only
        // by calls from within that body.
        let way = unsafe { &*way };
        Some(self.leave(way, Suspended::Waits(wanted)))
    }

    fn leave(&self, way: &Way<T, E>, with: Suspended<E>) -> Resume<T> {
        let here = 0u8;
        self.place.set(ptr::from_ref(black_box(&here)).addr());
        way.suspend(with)
    }
}

impl<T: 'static, E: 'static> Fiber<T, E> {
    /// Returns a stack on which `run` runs each task. `exit` belongs to this stack alone.
    ///
    /// # Errors
    /// If the system has no memory for the stack.
    pub fn new(exit: Rc<Exit<T, E>>, mut run: impl FnMut(T) -> E + 'static) -> io::Result<Self> {
        let stack = DefaultStack::new(STACK)?;
        let addresses = stack.limit().get()..stack.base().get();
        let of_body = exit.clone();
        let coroutine = Coroutine::with_stack(stack, move |way: &Way<T, E>, first| {
            of_body.way.set(Some(way));
            let mut next = first;
            // Anything else than a task ends the stack.
            while let Resume::Begin(task) = next {
                let end = run(task);
                next = of_body.leave(way, Suspended::Ended(end));
            }
            of_body.way.set(None);
        });
        Ok(Self { coroutine, exit, addresses })
    }

    /// Gives the memory back that was used below what is on the stack now: the first task needs much more than those that follow.
    pub fn trim(&self) {
        const { assert!(size_of::<Suspended<E>>() + size_of::<Resume<T>>() < SUSPENSION / 4) };
        // Below the size that was requested is one page that guards it.
        let page = self.addresses.len() - STACK;
        let guarded = self.addresses.start + page;
        let used = self.exit.place.get().saturating_sub(SUSPENSION) & !(page - 1);
        if let Some(bytes) = used.checked_sub(guarded).filter(|_| self.addresses.contains(&used)) {
            // SAFETY: the memory is part of the stack, which nothing runs on now. All that is on it lies above the place at which it was
            // suspended, or so little below it as the suspension itself takes. Failure leaves the memory as it is.
            let _ = unsafe { madvise(ptr::without_provenance_mut(guarded), bytes, Advice::LinuxDontNeed) };
        }
    }

    /// Returns the addresses of the part of the stack that is used soon after what runs there goes on.
    pub fn near(&self) -> Range<usize> {
        let place = self.exit.place.get().clamp(self.addresses.start, self.addresses.end);
        place.saturating_sub(BELOW).max(self.addresses.start)..place.saturating_add(ABOVE).min(self.addresses.end)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a part of the stack, and returns the address of its lowest byte.
    #[inline(never)]
    fn fill() -> usize {
        let filled = black_box([7u8; 128 * 1024]);
        ptr::from_ref(black_box(&filled)).expose_provenance()
    }

    #[test]
    fn a_trimmed_stack_has_what_waits_on_it_and_no_more() {
        let exit: Rc<Exit<u32, (u32, usize)>> = Rc::default();
        let on_stack = exit.clone();
        let mut fiber = Fiber::new(exit, move |task: u32| {
            let kept = black_box([task; 64]);
            let filled = fill();
            on_stack.suspend(Wanted::Sleep(std::time::Duration::ZERO));
            (kept.iter().sum(), filled)
        })
        .expect("a stack is available");
        assert!(matches!(fiber.resume(Resume::Begin(1)), Some(Suspended::Waits(_))));
        fiber.trim();
        let Some(Suspended::Ended((sum, filled))) = fiber.resume(Resume::Woken(Woken::Now)) else { panic!("no end") };
        assert_eq!(sum, 64);
        fiber.trim();
        // SAFETY: the address is that of memory of the stack, which is mapped as long as the fiber exists, and nothing runs on it.
        let byte = unsafe { ptr::with_exposed_provenance::<u8>(filled).read_volatile() };
        assert_eq!(byte, 0);
        assert!(matches!(fiber.resume(Resume::Begin(2)), Some(Suspended::Waits(_))));
        assert!(fiber.near().len() <= BELOW + ABOVE && fiber.near().end <= fiber.addresses.end);
    }
}
