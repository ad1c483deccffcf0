//! What a goroutine waits for, by the runtime's reason and the functions on its stack.

use crate::native::waits::{Purpose, purpose};
use crate::stack::{Frame, LockId, WaitKind};
use std::sync::Arc;

/// Classifies a wait. `semaphore` is the address of the semaphore that the goroutine waits for.
pub fn classify(reason: &str, semaphore: Option<u64>, frames: &[Arc<Frame>]) -> WaitKind {
    let has = |part: &str| frames.iter().any(|frame| frame.function.contains(part));
    let is_lock = reason.starts_with("sync.Mutex") || reason.starts_with("sync.RWMutex");
    let is_older = reason == "semacquire" && purpose(frames).is_some_and(|(purpose, _)| purpose == Purpose::Lock);
    if is_lock || is_older {
        // The semaphore's position in the lock tells the lock's own address.
        let is_inner = has("sync.(*Mutex).lockSlow") || reason == "sync.Mutex.Lock";
        let position = match (has("sync.(*RWMutex).RLock"), has("sync.(*RWMutex).Lock"), is_inner) {
            (true, ..) => 12,
            (_, true, false) => 8,
            _ => 4,
        };
        return WaitKind::Lock(LockId { address: semaphore.map_or(0, |at| at.wrapping_sub(position)), name: None });
    }
    match reason {
        "sleep" => WaitKind::Sleep,
        // A connection of a client is read by the server's own loop, one to a peer by own code.
        "IO wait"
            if frames.iter().any(|frame| frame.is_own)
                && !has("net/http.(*connReader)")
                && !has(".Accept")
                && !has("accept") =>
        {
            WaitKind::Socket { descriptor: -1, inode: 0 }
        }
        "IO wait" => WaitKind::Idle,
        _ if reason.contains("idle") || reason.contains("finalizer") => WaitKind::Idle,
        // Another goroutine has to do something first.
        _ if ["chan", "select", "sync.", "semacquire"].iter().any(|begin| reason.starts_with(begin)) => {
            WaitKind::Condition
        }
        // The collector, or the runtime in other ways.
        _ => WaitKind::Other,
    }
}
