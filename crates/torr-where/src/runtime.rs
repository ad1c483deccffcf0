//! Interpreted and managed runtimes: which one a process is, and the stacks of its language, not those of the interpreter's C code.
//!
//! [`detect`] tells the runtime of a process from its mappings. [`observe`] samples it for a while by the reader of that runtime and
//! returns a [`Reading`]. Nothing is attached or injected; what talks to the process does so only with [`Permission::Asking`].

mod detect;
mod jvm;
mod kernel_wait;
mod node;
pub mod process;
mod python;
mod reading;
mod request;

pub use detect::detect;
pub use reading::{Permission, Reading};

use super::unseen::{Runtime, Unseen, UnseenReason};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Samples the process of an interpreted or managed runtime for a while, or until `stop` is set. Blocks meanwhile.
///
/// Programs in machine code have a reader of their own: of them the reading is empty.
pub fn observe(process: i32, runtime: Runtime, permission: Permission, time: Duration, stop: &AtomicBool) -> Reading {
    let result = match runtime {
        Runtime::Python => python::observe(process, time, stop),
        Runtime::Native | Runtime::Go | Runtime::Database => Ok(Reading::default()),
        Runtime::Jvm if permission == Permission::Asking => jvm::observe(process, time, stop),
        Runtime::Node if permission == Permission::Asking => node::observe(process, time, stop),
        Runtime::Jvm | Runtime::Node if permission == Permission::Reading => {
            Err(process::unseen(process, runtime, UnseenReason::NeedsRequest))
        }
        _ => Err(process::unseen(process, runtime, UnseenReason::Failed("no reader of this runtime".into()))),
    };
    result.unwrap_or_else(Reading::unseen)
}

impl Reading {
    /// Returns the reading of a process that is not visible.
    fn unseen(unseen: Unseen) -> Self {
        Self { unseen: Some(unseen), ..Self::default() }
    }
}
