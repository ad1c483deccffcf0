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
    Reader::open(process, runtime, permission).sample(time, stop)
}

/// The reader of a process of a runtime. What it finds in the process's files and memory is found when it is opened.
pub struct Reader {
    opened: Result<Opened, Unseen>,
    /// The processes that are sampled at the same time.
    processes: usize,
}

enum Opened {
    Python(Box<python::Python>),
    Jvm(i32),
    Node(Box<node::Node>),
    /// Of a program in machine code there is nothing to read here.
    Nothing,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("unseen", &self.opened.as_ref().err()).finish_non_exhaustive()
    }
}

impl Reader {
    /// Opens a process. Why it is not visible is in the reading.
    pub fn open(process: i32, runtime: Runtime, permission: Permission) -> Self {
        let opened = match (runtime, permission) {
            (Runtime::Python, _) => python::open(process).map(|python| Opened::Python(Box::new(python))),
            (Runtime::Native | Runtime::Go | Runtime::Database, _) => Ok(Opened::Nothing),
            (Runtime::Jvm, Permission::Asking) => Ok(Opened::Jvm(process)),
            (Runtime::Node, Permission::Asking) => {
                node::open(process).map(|node| node.map_or(Opened::Nothing, |node| Opened::Node(Box::new(node))))
            }
            (Runtime::Jvm | Runtime::Node, Permission::Reading) => {
                Err(process::unseen(process, runtime, UnseenReason::NeedsRequest))
            }
            (Runtime::Php | Runtime::Ruby | Runtime::DotNet | Runtime::Beam, _) => {
                Err(process::unseen(process, runtime, UnseenReason::NoReader))
            }
        };
        Self { opened, processes: 1 }
    }

    /// Tells how many processes are sampled at the same time, which share what sampling may cost.
    #[must_use]
    pub fn of_all(self, processes: usize) -> Self {
        Self { processes, ..self }
    }

    /// Samples the process for a while, or until `stop` is set.
    pub fn sample(self, time: Duration, stop: &AtomicBool) -> Reading {
        let result = self.opened.and_then(|opened| match opened {
            Opened::Python(mut python) => python.sample_for(time, self.processes, stop),
            Opened::Jvm(process) => jvm::observe(process, time, stop),
            Opened::Node(node) => node.sample_for(time, stop),
            Opened::Nothing => Ok(Reading::default()),
        });
        result.unwrap_or_else(Reading::unseen)
    }
}

impl Reading {
    /// Returns the reading of a process that is not visible.
    fn unseen(unseen: Unseen) -> Self {
        Self { unseen: Some(unseen), ..Self::default() }
    }
}
