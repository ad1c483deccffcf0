//! What a thread waits for, by its system call and the functions of libraries that made the call.

use super::memory::Memory;
use super::sockets::Sockets;
use super::syscall::Call;
use crate::stack::{Frame, LockId, WaitKind};
use std::fs;
use std::sync::Arc;

/// Parts of the names of functions that acquire a lock.
const LOCKS: [&str; 20] = [
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "pthread_mutex_cond_lock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_timed",
    "pthread_rwlock_clock",
    "lll_lock_wait",
    "lll_mutex_lock",
    "lll_timedlock_wait",
    "Mutex::lock_contended",
    "RwLock::read_contended",
    "RwLock::write_contended",
    "RawMutex::lock_slow",
    "RawRwLock::lock_",
    "RawFairMutex::lock_slow",
    "sync.(*Mutex).lockSlow",
    "sync.(*Mutex).Lock",
    "sync.(*RWMutex).",
];
/// Parts of the names of functions that wait until another thread has something for this one.
const CONDITIONS: [&str; 22] = [
    "pthread_cond_",
    "condition_variable::wait",
    "condvar::",
    "Condvar::",
    "sem_wait",
    "sem_timedwait",
    "sem_clockwait",
    "pthread_join",
    "pthread_barrier_wait",
    "thread::park",
    "Parker::park",
    "parker::Parker",
    "thread::join",
    "Thread::join",
    "__atomic_wait",
    "__platform_wait",
    "crossbeam_channel::",
    "mpmc::",
    "mpsc::",
    "call_once",
    "Once::",
    "WaitGroup",
];

/// What a function does, as far as waiting is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The function acquires a lock.
    Lock,
    /// The function waits for a condition.
    Condition,
}

/// Returns what the first function from the leaf on that waits is for, and its frame. Frames of own code end the search.
pub fn purpose(frames: &[Arc<Frame>]) -> Option<(Purpose, &Arc<Frame>)> {
    let of_frame = |frame: &Frame| {
        let is_one = |parts: &[&str]| parts.iter().any(|part| frame.function.contains(part));
        if is_one(&LOCKS) { Some(Purpose::Lock) } else { is_one(&CONDITIONS).then_some(Purpose::Condition) }
    };
    frames.iter().take_while(|frame| !frame.is_own).find_map(|frame| Some((of_frame(frame)?, frame)))
}

/// Returns whether a stack is that of a thread that acquires a lock, spinning or waiting.
pub fn acquires_lock(frames: &[Arc<Frame>]) -> bool {
    purpose(frames).is_some_and(|(purpose, _)| purpose == Purpose::Lock)
}

/// A wait, and who holds its lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// What the thread waits for.
    pub kind: WaitKind,
    /// The number of the thread that holds the lock, as the lock has it. `None` where the lock has no such number.
    pub owner: Option<u32>,
}

impl From<WaitKind> for Wait {
    fn from(kind: WaitKind) -> Self {
        Self { kind, owner: None }
    }
}

/// Returns what the descriptor leads to that a system call waits for. `None` for calls that wait for none.
pub fn descriptor(process: i32, memory: Memory, call: &Call, sockets: &mut Sockets) -> Option<WaitKind> {
    let [first, second, ..] = call.arguments;
    match call.number {
        libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_pread64
        | libc::SYS_write
        | libc::SYS_writev
        | libc::SYS_pwrite64
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_recvmmsg
        | libc::SYS_sendto
        | libc::SYS_sendmsg
        | libc::SYS_connect
        | libc::SYS_sendfile
        | libc::SYS_splice => Some(sockets.wait(process, first as i32)),
        libc::SYS_ppoll => Some(poll(process, memory, first, second, sockets)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => Some(poll(process, memory, first, second, sockets)),
        libc::SYS_flock => Some(file_lock(process, first)),
        libc::SYS_fcntl if matches!(second as i32, libc::F_SETLKW | libc::F_OFD_SETLKW) => {
            Some(file_lock(process, first))
        }
        _ => None,
    }
}

/// Classifies a system call of a thread whose frames are not known: a wait for a futex is another wait.
pub fn classify_alone(process: i32, memory: Memory, call: &Call, sockets: &mut Sockets) -> WaitKind {
    descriptor(process, memory, call, sockets).unwrap_or_else(|| classify(call, &[0; 6], &[]).kind)
}

/// Classifies a system call of a thread with these frames. `words` are the numbers in memory from the first argument on.
pub fn classify(call: &Call, words: &[u32; 6], frames: &[Arc<Frame>]) -> Wait {
    let [first, second, ..] = call.arguments;
    let kind = match call.number {
        libc::SYS_futex => return futex(first, second, words, frames),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait | libc::SYS_accept | libc::SYS_select | libc::SYS_pause => WaitKind::Idle,
        libc::SYS_epoll_pwait
        | libc::SYS_epoll_pwait2
        | libc::SYS_accept4
        | libc::SYS_pselect6
        | libc::SYS_rt_sigsuspend
        | libc::SYS_rt_sigtimedwait
        | libc::SYS_io_uring_enter
        | libc::SYS_io_getevents => WaitKind::Idle,
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => WaitKind::Sleep,
        libc::SYS_fsync
        | libc::SYS_fdatasync
        | libc::SYS_sync
        | libc::SYS_syncfs
        | libc::SYS_sync_file_range
        | libc::SYS_msync
        | libc::SYS_openat
        | libc::SYS_ftruncate
        | libc::SYS_fallocate => WaitKind::File,
        libc::SYS_wait4 | libc::SYS_waitid => WaitKind::Process,
        _ => WaitKind::Other,
    };
    kind.into()
}

/// Classifies a wait for a futex by the functions that led to it: the kernel knows no difference between locks and conditions.
fn futex(address: u64, operation: u64, words: &[u32; 6], frames: &[Arc<Frame>]) -> Wait {
    const WAIT: i32 = libc::FUTEX_WAIT;
    const WAIT_BITSET: i32 = libc::FUTEX_WAIT_BITSET;
    const LOCK_PI: i32 = libc::FUTEX_LOCK_PI;
    const LOCK_PI2: i32 = 13;
    let operation = operation as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    let lock = |address| WaitKind::Lock(LockId { address, name: None });
    let owner = |word: usize| Some(words[word]).filter(|&owner| owner != 0);
    match (operation, purpose(frames)) {
        (LOCK_PI | LOCK_PI2, _) => Wait { kind: lock(address), owner: owner(2) },
        (WAIT | WAIT_BITSET, Some((Purpose::Lock, by))) => {
            let is_of_glibc =
                by.object.contains("libc.so") || by.object.contains("libpthread") || by.function.contains("lll_");
            if by.function.contains("rwlock") && is_of_glibc {
                // The lock waits at one of two numbers in itself, of which the second is not at a multiple of 8. The thread that
                // writes is at 24 bytes from the lock's begin.
                let (begin, writer) = if address.is_multiple_of(8) { (8, 4) } else { (12, 3) };
                return Wait { kind: lock(address.wrapping_sub(begin)), owner: owner(writer) };
            }
            // The parker of a lock of `parking_lot` is the thread's own: the lock is known by its callers only.
            let is_per_thread = by.function.contains("Raw");
            let owner = if is_of_glibc { owner(2) } else { None };
            Wait { kind: lock(if is_per_thread { 0 } else { address }), owner }
        }
        (WAIT | WAIT_BITSET, Some((Purpose::Condition, _))) => WaitKind::Condition.into(),
        _ => WaitKind::Other.into(),
    }
}

/// Classifies a wait for descriptors: one socket is waited for, several are waited for in general.
fn poll(process: i32, memory: Memory, descriptors: u64, count: u64, sockets: &mut Sockets) -> WaitKind {
    match (count, memory.u32(descriptors)) {
        (0, _) => WaitKind::Sleep,
        (1, Some(descriptor)) => sockets.wait(process, descriptor as i32),
        _ => WaitKind::Idle,
    }
}

/// Returns the lock of a file, which processes share: its inode stands for its address.
fn file_lock(process: i32, descriptor: u64) -> WaitKind {
    let link = format!("/proc/{process}/fd/{}", descriptor as i32);
    let inode = fs::metadata(&link).map_or(0, |metadata| std::os::unix::fs::MetadataExt::ino(&metadata));
    let name = fs::read_link(&link).ok().map(|path| path.to_string_lossy().into_owned());
    WaitKind::Lock(LockId { address: inode, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(functions: &[(&str, bool)]) -> Vec<Arc<Frame>> {
        let frame = |&(function, is_own): &(&str, bool)| {
            Arc::new(Frame {
                function: function.to_owned(),
                is_own,
                object: "/lib/libc.so.6".to_owned(),
                ..Frame::default()
            })
        };
        functions.iter().map(frame).collect()
    }

    fn waits(functions: &[(&str, bool)]) -> Wait {
        futex(0x1000, libc::FUTEX_WAIT as u64 | 128, &[2, 0, 77, 0, 0, 0], &stack(functions))
    }

    #[test]
    fn a_condition_is_no_lock_and_what_is_unknown_is_neither() {
        let lock = waits(&[("__lll_lock_wait", false), ("pthread_mutex_lock", false), ("charge", true)]);
        assert_eq!(lock.kind.lock().map(|lock| lock.address), Some(0x1000));
        assert_eq!(lock.owner, Some(77));
        assert_eq!(
            waits(&[("libc.so.6+0x1", false), ("pthread_cond_wait", false), ("take_job", true)]).kind,
            WaitKind::Condition
        );
        assert_eq!(
            waits(&[("libc.so.6+0x1", false), ("sem_wait", false), ("take_job", true)]).kind,
            WaitKind::Condition
        );
        assert_eq!(waits(&[("app+0x1", false), ("app+0x2", false)]).kind, WaitKind::Other);
        // Own code ends the search: a function of the program that is called after a lock is not one.
        assert_eq!(waits(&[("app+0x1", true), ("pthread_mutex_lock", false)]).kind, WaitKind::Other);
        // The mutex of a condition that is acquired again.
        let again = waits(&[("__lll_lock_wait", false), ("pthread_cond_wait", false), ("take_job", true)]);
        assert!(again.kind.lock().is_some());
    }

    #[test]
    fn locks_of_readers_and_writers_are_one_at_both_their_numbers() {
        let at = |address, words| futex(address, 128, words, &stack(&[("pthread_rwlock_rdlock", false)]));
        let first = at(0x1008, &[1, 0, 0, 0, 77, 0]);
        assert_eq!(first, at(0x100c, &[0, 0, 0, 77, 0, 0]));
        assert_eq!(first.owner, Some(77));
    }
}
