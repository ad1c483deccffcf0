//! What a survey cannot see, why, and what would make it visible.

pub use torr_gauge::verdict::place::{Remedy, UnseenReason};

use serde::{Deserialize, Serialize};

/// A runtime that programs are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Machine code: C, C++, Rust and others.
    Native,
    /// Go.
    Go,
    /// `CPython`.
    Python,
    /// A Java virtual machine.
    Jvm,
    /// Node.js.
    Node,
    /// PHP, as FPM or as a program.
    Php,
    /// Ruby.
    Ruby,
    /// .NET.
    DotNet,
    /// The Erlang virtual machine.
    Beam,
    /// A database, whose statements are read.
    Database,
}

/// Something that a survey could not see.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unseen {
    /// The process, or 0 where it concerns none.
    pub process: i32,
    /// The process's name, or that of the peer.
    pub name: String,
    /// The runtime.
    pub runtime: Runtime,
    /// Why it is not visible.
    pub why: UnseenReason,
    /// What would make it visible, if anything would.
    pub remedies: Vec<Remedy>,
}
