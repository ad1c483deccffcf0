//! State that each thread keeps for an object that all threads share.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Weak};

/// A thread's local state `L` for each shared object of type `T`. Belongs in a `thread_local`.
pub(crate) struct PerThread<T, L> {
    entries: RefCell<Vec<(Weak<T>, Rc<L>)>>,
}

impl<T, L> PerThread<T, L> {
    pub(crate) const fn new() -> Self {
        Self { entries: RefCell::new(Vec::new()) }
    }

    /// Returns the thread's state for an object, made at the first call. State of objects that are gone is dropped.
    pub(crate) fn of(&self, shared: &Arc<T>, make: impl FnOnce() -> L) -> Rc<L> {
        let is = |(of, _): &&(Weak<T>, Rc<L>)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(shared));
        if let Some((_, local)) = self.entries.borrow().iter().find(is) {
            return Rc::clone(local);
        }
        let local = Rc::new(make());
        let mut entries = self.entries.borrow_mut();
        let gone: Vec<_> = entries.extract_if(.., |(of, _)| of.strong_count() == 0).collect();
        entries.push((Arc::downgrade(shared), Rc::clone(&local)));
        // The list is released first: dropping an entry may call `of` again.
        drop(entries);
        drop(gone);
        local
    }
}
