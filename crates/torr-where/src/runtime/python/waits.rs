//! What a Python thread waits for: the kernel shows a call and an address, the frames tell what they mean.

use super::super::request::{is_in_request, libraries, site_number};
use crate::native::memory::Memory;
use crate::stack::{Frame, LockId, Stack, WaitKind};

/// The size of the structures of the interpreter that have the GIL's condition variables and mutexes, at most.
const GIL: u64 = 1024;
/// How far above the stack pointer the lock of a thread that waits in a lot of waiting threads is looked for.
const WAITER: u64 = 8192;

/// Returns whether a futex is one of the GIL's. `address` is where the interpreter keeps who holds it.
pub fn is_gil(minor: u64, address: u64, futex: u64) -> bool {
    // From 3.12 on the address is that of the GIL's own structure. Before, the structure ends close before the address.
    match minor {
        12.. => (address..address + GIL).contains(&futex),
        _ => (address.saturating_sub(GIL)..address).contains(&futex),
    }
}

/// Returns the address of the lock that a thread waits for at a futex.
///
/// From 3.13 on the interpreter has locks of one byte. A thread that waits for one sleeps at a semaphore of its own, on its stack, right
/// behind the lock's address.
pub fn lock_address(memory: Memory, futex: u64, stack: u64) -> u64 {
    let is_own = (stack..stack.saturating_add(WAITER)).contains(&futex);
    let parked = if is_own { memory.u64(futex.saturating_sub(8)) } else { None };
    parked.filter(|address| *address > 0).unwrap_or(futex)
}

/// Returns whether a frame is of the beginning of a thread or of a program, before any server.
fn is_beginning(frame: &Frame) -> bool {
    // A pool of threads may run what waits for work.
    ["threading", "concurrent.futures.thread"].contains(&frame.module.as_str())
        || frame.module == "runpy"
        || frame.object.starts_with('<')
        || frame.object.contains("/bin/")
}

/// Returns a function's name without its class.
fn method(frame: &Frame) -> &str {
    frame.function.rsplit('.').next().unwrap_or(&frame.function)
}

/// Returns the wait of a thread for a lock of the interpreter: a lock itself, or one within a condition, a queue, a pool.
pub fn of_lock(address: u64, stack: &Stack) -> WaitKind {
    let is_synchronisation = |frame: &&std::sync::Arc<Frame>| {
        ["threading", "queue", "concurrent.futures.thread", "concurrent.futures._base"].contains(&frame.module.as_str())
    };
    let within: Vec<_> = libraries(&stack.0).take_while(is_synchronisation).collect();
    // `acquire` of a semaphore waits at a condition.
    let is_semaphore = within.iter().any(|frame| ["acquire", "__enter__"].contains(&method(frame)));
    if within.is_empty() || is_semaphore && within.iter().all(|frame| frame.module == "threading") {
        let name = is_semaphore.then(|| "semaphore".to_owned());
        // Each of those that wait for a condition has a lock of its own.
        let address = if is_semaphore { site_number(stack.0.get(within.len())) } else { address };
        return WaitKind::Lock(LockId { address, name });
    }
    let is_pool = |frame: &std::sync::Arc<Frame>| frame.module.to_ascii_lowercase().contains("pool");
    if libraries(&stack.0).skip(within.len()).any(is_pool) {
        return WaitKind::Lock(LockId { address: site_number(stack.0.get(within.len())), name: Some("pool".into()) });
    }
    match is_in_request(&stack.0, is_beginning) {
        // What a handler gets from a queue are connections and the like, which others return.
        true if within.iter().any(|frame| frame.module == "queue") => {
            WaitKind::Lock(LockId { address: site_number(stack.0.get(within.len())), name: Some("queue".into()) })
        }
        true => WaitKind::Other,
        false => WaitKind::Condition,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn stack(frames: &[(&str, &str)]) -> Stack {
        let frame = |&(function, module): &(&str, &str)| {
            let (function, module) = (function.to_owned(), module.to_owned());
            Arc::new(Frame { is_own: module == "app", function, module, ..Frame::default() })
        };
        Stack(frames.iter().map(frame).collect())
    }

    const SERVER: [(&str, &str); 3] = [
        ("handle_one_request", "http.server"),
        ("process_request_thread", "socketserver"),
        ("_bootstrap", "threading"),
    ];

    fn request(inner: &[(&str, &str)]) -> Stack {
        stack(&[inner, &SERVER[..]].concat())
    }

    #[test]
    fn the_gil_is_where_the_interpreter_has_it() {
        assert!(is_gil(12, 5000, 5100) && !is_gil(12, 5000, 4900));
        assert!(is_gil(11, 5000, 4900) && !is_gil(11, 5000, 5100));
    }

    #[test]
    fn a_lock_differs_from_a_condition() {
        let lock = of_lock(7, &request(&[("do_GET", "app")]));
        assert_eq!(lock, WaitKind::Lock(LockId { address: 7, name: None }));
        assert_eq!(
            of_lock(7, &stack(&[("_worker", "concurrent.futures.thread"), ("run", "threading")])),
            WaitKind::Condition
        );
        let worker = stack(&[("wait", "threading"), ("get", "queue"), ("work", "app"), ("run", "threading")]);
        assert_eq!(of_lock(7, &worker), WaitKind::Condition);
        let result = request(&[("wait", "threading"), ("result", "concurrent.futures._base"), ("do_GET", "app")]);
        assert_eq!(of_lock(7, &result), WaitKind::Other);
    }

    #[test]
    fn waiters_at_a_semaphore_or_a_pool_are_together() {
        let at = |line: &'static str| {
            request(&[("Condition.wait", "threading"), ("Semaphore.acquire", "threading"), (line, "app")])
        };
        let WaitKind::Lock(lock) = of_lock(7, &at("do_GET")) else { panic!("a semaphore is a lock") };
        assert_eq!(lock.name.as_deref(), Some("semaphore"));
        assert_eq!(of_lock(8, &at("do_GET")), WaitKind::Lock(lock.clone()));
        assert_ne!(of_lock(8, &at("do_POST")), WaitKind::Lock(lock));
        let pool = request(&[
            ("wait", "threading"),
            ("get", "sqlalchemy.util.queue"),
            ("_do_get", "sqlalchemy.pool.impl"),
            ("do_GET", "app"),
        ]);
        assert!(matches!(of_lock(7, &pool), WaitKind::Lock(LockId { name: Some(name), .. }) if name == "pool"));
        let queue = request(&[("wait", "threading"), ("get", "queue"), ("do_GET", "app")]);
        assert!(matches!(of_lock(7, &queue), WaitKind::Lock(LockId { name: Some(name), .. }) if name == "queue"));
    }
}
