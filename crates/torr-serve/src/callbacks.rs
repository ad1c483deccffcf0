//! Calls of what a program has given the server to call: a panic there must not end what calls it.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls something of the program's, which is named in the log if it panics. What a panic leaves behind is the program's own
/// state only.
pub(crate) fn survive(name: &str, call: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(call)).is_err() {
        tracing::error!("{name} panicked");
    }
}

/// Drops something of the program's, which is named in the log if its destructor panics.
#[inline]
pub(crate) fn dispose<T>(name: &str, of: T) {
    if std::mem::needs_drop::<T>() {
        survive(name, || drop(of));
    }
}
