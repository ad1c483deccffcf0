//! Calls of the program's callbacks, whose panics must not end the calling thread.

use crate::observe::notice;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a callback, and reports a panic with its name. Only the program's own state can be inconsistent after a panic.
pub(crate) fn survive(name: &str, call: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(call)).is_err() {
        notice::failure(format_args!("{name} panicked"));
    }
}

/// Drops a value of the program, and reports a panic of its destructor with its name.
#[inline]
pub(crate) fn dispose<T>(name: &str, of: T) {
    if std::mem::needs_drop::<T>() {
        survive(name, || drop(of));
    }
}
