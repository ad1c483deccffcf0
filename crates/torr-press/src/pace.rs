//! When requests are due: the load models, and the pacer by which each thread follows one.

pub(crate) mod closed;
pub(crate) mod limited;
pub(crate) mod open;
pub(crate) mod pacer;
pub(crate) mod schedule;
pub(crate) mod steered;
pub(crate) mod thread_pacer;
