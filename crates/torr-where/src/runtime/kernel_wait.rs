//! What the threads of a runtime wait for in the kernel.

use crate::native::memory::Memory;
use crate::native::sockets::Sockets;
use crate::native::syscall::{Call, Doing, ThreadFile};
use crate::native::waits::classify_alone;
use crate::stack::WaitKind;
use std::collections::HashMap;

/// The state of a thread as the kernel shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelWait {
    /// The thread computes, or could.
    Running,
    /// The thread waits at a futex: a lock, a condition or a semaphore of the process.
    Futex {
        /// The address of the futex.
        address: u64,
        /// The thread's stack pointer.
        stack: u64,
    },
    /// The thread waits for something else.
    Wait(WaitKind),
}

/// The threads of a process, whose states are read.
#[derive(Debug)]
pub struct KernelThreads {
    process: i32,
    /// The files of threads that were read before.
    files: HashMap<i32, ThreadFile>,
    sockets: Sockets,
}

impl KernelThreads {
    /// Returns the threads of a process. Nothing is read yet.
    pub fn of(process: i32) -> Self {
        Self { process, files: HashMap::new(), sockets: Sockets::default() }
    }

    /// Reads what a thread does. `None` of a thread that has ended or may not be looked at.
    ///
    /// Of two equal values of a thread that waits the thread waited all the while.
    pub fn doing(&mut self, thread: i32) -> Option<Doing> {
        if !self.files.contains_key(&thread) {
            self.files.insert(thread, ThreadFile::open(self.process, thread).ok()?);
        }
        let doing = self.files.get(&thread)?.read().ok();
        if doing.is_none() {
            self.files.remove(&thread);
        }
        doing
    }

    /// Returns what a thread that does this waits for.
    pub fn wait(&mut self, doing: Doing) -> KernelWait {
        let call = match doing {
            Doing::Runs => return KernelWait::Running,
            Doing::Blocked => return KernelWait::Wait(WaitKind::Other),
            Doing::Waits(call) => call,
        };
        if call.number == libc::SYS_futex {
            return KernelWait::Futex { address: call.arguments[0], stack: call.sp };
        }
        if is_pause(&call) {
            return KernelWait::Wait(WaitKind::Sleep);
        }
        let memory = Memory::of(self.process);
        KernelWait::Wait(classify_alone(self.process, memory, &call, &mut self.sockets))
    }
}

/// Returns whether a call waits for descriptors without any, which is a pause: runtimes sleep so.
fn is_pause(call: &Call) -> bool {
    let [first, second, ..] = call.arguments;
    match call.number {
        libc::SYS_pselect6 => first == 0,
        libc::SYS_ppoll => second == 0,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_select => first == 0,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => second == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_waits() {
        let mut threads = KernelThreads::of(std::process::id() as i32);
        let call = |number, first| Doing::Waits(Call { number, arguments: [first, 0, 0, 0, 0, 0], sp: 0x7ffc, pc: 0 });
        assert_eq!(threads.wait(Doing::Runs), KernelWait::Running);
        assert_eq!(threads.wait(call(libc::SYS_futex, 7)), KernelWait::Futex { address: 7, stack: 0x7ffc });
        assert_eq!(threads.wait(call(libc::SYS_pselect6, 0)), KernelWait::Wait(WaitKind::Sleep));
        assert_eq!(threads.wait(call(libc::SYS_pselect6, 5)), KernelWait::Wait(WaitKind::Idle));
        assert_eq!(threads.wait(call(libc::SYS_fsync, 5)), KernelWait::Wait(WaitKind::File));
    }

    #[test]
    fn a_thread_that_has_ended_does_nothing() {
        let mut threads = KernelThreads::of(std::process::id() as i32);
        assert!(threads.doing(std::process::id() as i32).is_some());
        assert_eq!(threads.doing(-1), None);
    }
}
