//! Stacks of threads as every reader of a runtime returns them: frames with names, and what the thread waits for.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The most frames of a stack that are kept, counted from the leaf.
pub const FRAMES: usize = 256;

/// A function on a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Frame {
    /// The function's name, demangled and without hashes. For code without a symbol the object's name and an offset.
    pub function: String,
    /// The source file, as the debug information has it, or `None`.
    pub file: Option<String>,
    /// The line that the thread executes, counted from 1. `None` where it is unknown.
    pub line: Option<u32>,
    /// The file that the code was loaded from: a program, a library, a script.
    pub object: String,
    /// The module, package, crate or class that the function belongs to. Empty where the language has none.
    pub module: String,
    /// Whether the code is the user's own, and not a library, a runtime or a standard library.
    pub is_own: bool,
    /// Whether the name is the function's own. It is false for code without a symbol.
    pub is_named: bool,
}

/// The frames of a thread, the innermost one (the leaf) first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Stack(pub Vec<Arc<Frame>>);

impl Stack {
    /// Returns the innermost frame.
    pub fn leaf(&self) -> Option<&Arc<Frame>> {
        self.0.first()
    }

    /// Returns the innermost frame of the user's own code.
    pub fn own(&self) -> Option<&Arc<Frame>> {
        self.0.iter().find(|frame| frame.is_own)
    }
}

/// A lock of a process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LockId {
    /// The lock's address, or another number that only this lock of the process has.
    pub address: u64,
    /// The lock's name: the symbol of a static lock, the class of a monitor, `GIL`. `None` for a lock on the heap.
    pub name: Option<String>,
}

/// What a thread that does not compute waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// A lock or semaphore that other threads hold.
    Lock(LockId),
    /// A condition, a channel or a queue: the thread waits for another one to have something for it. This is no contention.
    Condition,
    /// The thread waits for requests or for events in general. This is no contention.
    Idle,
    /// One socket, by its descriptor and inode, from which the thread reads or to which it writes.
    Socket {
        /// The descriptor in the process.
        descriptor: i32,
        /// The socket's inode, by which `torr-signals` knows its peer. 0 where it is unknown.
        inode: u64,
    },
    /// A file: `fsync`, `read` or `write` of a disk.
    File,
    /// A pause of the program.
    Sleep,
    /// The end of another process.
    Process,
    /// Another wait, which cannot be classified.
    Other,
}

impl WaitKind {
    /// Returns whether the thread waits for work, so that it limits nothing.
    pub fn is_idle(&self) -> bool {
        matches!(self, Self::Condition | Self::Idle)
    }

    /// Returns the lock that the thread waits for.
    pub fn lock(&self) -> Option<&LockId> {
        match self {
            Self::Lock(lock) => Some(lock),
            _ => None,
        }
    }
}

/// What one thread (or goroutine, or other task with a stack) does at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StackSample {
    /// The process's number, as this machine's root namespace has it.
    pub process: i32,
    /// The thread's number, or the runtime's own number of the task.
    pub thread: u64,
    /// Whether the thread computes. If not, `wait` says what it waits for.
    pub on_cpu: bool,
    /// What the thread waits for. `None` of a thread that computes.
    pub wait: Option<WaitKind>,
    /// The locks that the runtime says the thread holds. Native programs do not say.
    pub holds: Vec<LockId>,
    /// The thread's frames.
    pub stack: Stack,
    /// How much the sample counts: 1 for each of a reader's samples, unless the reader samples tasks at different rates.
    pub weight: f64,
}
