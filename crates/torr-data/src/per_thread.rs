//! What each thread has of something that all threads share, made when the thread asks for it first.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Weak};

/// A thread's own parts of all things of one kind; to be kept as a `thread_local`.
pub(crate) struct PerThread<T, L> {
    parts: RefCell<Vec<(Weak<T>, Rc<L>)>>,
}

impl<T, L> PerThread<T, L> {
    pub(crate) const fn new() -> Self {
        Self { parts: RefCell::new(Vec::new()) }
    }

    /// This thread's part of a thing.
    pub(crate) fn of(&self, whole: &Arc<T>, make: impl FnOnce() -> L) -> Rc<L> {
        let is = |(of, _): &&(Weak<T>, Rc<L>)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(whole));
        if let Some((_, part)) = self.parts.borrow().iter().find(is) {
            return Rc::clone(part);
        }
        let part = Rc::new(make());
        let mut parts = self.parts.borrow_mut();
        let gone: Vec<_> = parts.extract_if(.., |(of, _)| of.strong_count() == 0).collect();
        parts.push((Arc::downgrade(whole), Rc::clone(&part)));
        // Not before the list is free: what is dropped may look at it.
        drop(parts);
        drop(gone);
        part
    }
}
