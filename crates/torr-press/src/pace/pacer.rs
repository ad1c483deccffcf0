//! When requests are due: the interface of the load models.

use torr_net::Nanos;

/// The load model of one thread.
pub trait Pacer {
    /// Returns when the next request is due on a slot that is available. Unless that lies in the future, the request
    /// counts as begun, and the next call is about the one after it.
    fn next(&mut self, now: Nanos) -> Due;

    /// Takes requests that are due, but can no longer be sent, at the end of a run. Returns the scheduled time and the number of
    /// those whose ages are about the same, or `None` once no request is left that is due. The number of calls does not grow
    /// with the rate.
    fn take_overdue(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        match self.next(now) {
            Due::At(due) if due <= now => Some((due, 1)),
            _ => None,
        }
    }

    /// Whether it is known that no further request will be begun.
    fn is_exhausted(&self, _now: Nanos) -> bool {
        false
    }

    /// Notes that a request has ended and its think time, if any, is over.
    fn request_ended(&mut self, now: Nanos);
}

/// The time at which the next request is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// The request is due once it can be sent, which is when its clock starts: a closed loop.
    Immediately,
    /// The request is due at its scheduled time, past or future, which is when its clock starts: an open loop.
    At(Nanos),
    /// The request is not due before this time, at which the pacer is called again. Connections without a request may be closed
    /// until then.
    NotBefore(Nanos),
    /// The request is not due before this time, at which the pacer is called again. Connections stay open.
    Later(Nanos),
    /// No request is due any more: all have been begun.
    Never,
}
