//! What an operator may want of a run.

/// A wish of the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// To pause the run, or to continue it.
    Pause,
    /// A higher rate, or more connections.
    Raise,
    /// A lower rate, or fewer connections.
    Lower,
    /// To mark the moment.
    Mark,
    /// To end the run.
    End,
}
