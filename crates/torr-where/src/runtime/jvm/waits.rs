//! What a Java thread waits for, by the note of the dump and the frames.

use super::super::kernel_wait::KernelWait;
use super::super::request::{is_in_request, libraries, site_number};
use super::dump::{Object, Thread, Waits};
use crate::stack::{Frame, LockId, Stack, WaitKind};
use std::sync::Arc;

/// Classes whose objects are locks, and not conditions or queues.
const LOCKS: [&str; 4] =
    ["locks.ReentrantLock", "locks.ReentrantReadWriteLock", "locks.StampedLock", "concurrent.Semaphore"];

/// Returns what a thread waits for, or `None` of a thread that computes. The kernel tells of threads in native methods.
pub fn of(thread: &Thread, stack: &Stack, kernel: Option<KernelWait>) -> Option<WaitKind> {
    let is_sleeping =
        thread.frames.first().is_some_and(|leaf| leaf.class == "java.lang.Thread" && leaf.name.starts_with("sleep"));
    match (&thread.waits, thread.state.as_str()) {
        (Some((Waits::Monitor, monitor)), _) => Some(WaitKind::Lock(lock(monitor))),
        (Some((Waits::Parked, object)), _) if LOCKS.iter().any(|class| object.class.contains(class)) => {
            Some(WaitKind::Lock(lock(object)))
        }
        (None, _) if is_sleeping => Some(WaitKind::Sleep),
        (None, "RUNNABLE") => match kernel? {
            KernelWait::Running => None,
            KernelWait::Wait(wait) => Some(wait),
            KernelWait::Futex { .. } => Some(WaitKind::Other),
        },
        _ => Some(of_condition(stack)),
    }
}

/// Returns the lock that an object is.
pub fn lock(object: &Object) -> LockId {
    // `java.util.concurrent.locks.ReentrantLock$NonfairSync` is a `ReentrantLock`.
    let class = object
        .class
        .split('$')
        .next()
        .filter(|class| class.starts_with("java.util.concurrent."))
        .unwrap_or(&object.class);
    LockId { address: object.address, name: Some(class.rsplit('.').next().unwrap_or(class).to_owned()) }
}

/// Returns the wait for a condition: within a request that of a pool of connections or of a queue is one for what others hold.
fn of_condition(stack: &Stack) -> WaitKind {
    let is_of_jdk = |frame: &&Arc<Frame>| frame.module.starts_with("java.") || frame.module.starts_with("jdk.");
    let within = libraries(&stack.0).take_while(is_of_jdk).count();
    let is_pool = |frame: &Arc<Frame>| {
        let name = format!("{}.{}", frame.module, frame.function).to_ascii_lowercase();
        (name.contains("pool") || name.contains("concurrentbag"))
            && !name.contains("threadpool")
            && !name.contains("forkjoinpool")
    };
    let shared =
        |name: &str| WaitKind::Lock(LockId { address: site_number(stack.0.get(within)), name: Some(name.into()) });
    if !is_in_request(&stack.0, is_beginning) {
        return WaitKind::Condition;
    }
    if libraries(&stack.0).skip(within).any(is_pool) {
        return shared("pool");
    }
    let is_queue = |frame: &Arc<Frame>| {
        let (class, method) = frame.function.split_once('.').unwrap_or_default();
        (class.ends_with("Queue") || class.ends_with("Deque"))
            && ["take", "poll", "takeFirst", "pollFirst"].contains(&method)
    };
    if libraries(&stack.0).take(within).any(is_queue) { shared("queue") } else { WaitKind::Other }
}

/// Returns whether a frame is of the beginning of a thread or program, or of a pool of threads, which may run what waits for work.
fn is_beginning(frame: &Frame) -> bool {
    const BEGINNINGS: [&str; 6] = [
        "java.lang",
        "java.util.concurrent",
        "jdk.internal.reflect",
        "java.lang.reflect",
        "jdk.internal.misc",
        "org.springframework.boot.loader",
    ];
    BEGINNINGS.contains(&frame.module.as_str()) || frame.module.starts_with("org.springframework.boot.loader.")
}

#[cfg(test)]
mod tests {
    use super::super::dump::parse;
    use super::super::frames::Frames;
    use super::*;

    const SERVER: &str = "\tat shop.Orders.handle(Orders.java:10)\n\
                          \tat sun.net.httpserver.ServerImpl.run(jdk.httpserver@17/ServerImpl.java:5)\n\
                          \tat java.util.concurrent.ThreadPoolExecutor.runWorker(java.base@17/ThreadPoolExecutor.java:1)\n\
                          \tat java.lang.Thread.run(java.base@17/Thread.java:840)\n";
    const EXECUTOR: &str =
        "\tat java.util.concurrent.ThreadPoolExecutor.runWorker(java.base@17/ThreadPoolExecutor.java:1)\n";

    fn wait(state: &str, frames: &str, kernel: Option<KernelWait>) -> Option<WaitKind> {
        let thread = &parse(&format!("\"x\" nid=0x1\n   java.lang.Thread.State: {state}\n{frames}"))[0];
        of(thread, &Frames::default().stack(thread), kernel)
    }

    fn parked(class: &str, frames: &str) -> String {
        format!(
            "\tat jdk.internal.misc.Unsafe.park(java.base@17/Native Method)\n\t- parking to wait for  <0x10> (a java.util.concurrent.{class})\n{frames}"
        )
    }

    fn name(wait: Option<WaitKind>) -> Option<String> {
        wait?.lock()?.name.clone()
    }

    #[test]
    fn locks_are_waited_for() {
        let monitor =
            format!("\tat shop.Orders.locked(Orders.java:11)\n\t- waiting to lock <0x20> (a shop.Cache)\n{SERVER}");
        let lock = LockId { address: 0x20, name: Some("Cache".into()) };
        assert_eq!(wait("BLOCKED (on object monitor)", &monitor, None), Some(WaitKind::Lock(lock)));
        let reentrant = parked("locks.ReentrantLock$NonfairSync", SERVER);
        assert_eq!(name(wait("WAITING (parking)", &reentrant, None)).as_deref(), Some("ReentrantLock"));
    }

    #[test]
    fn a_worker_without_work_is_idle() {
        let take = "\tat java.util.concurrent.LinkedBlockingQueue.take(java.base@17/LinkedBlockingQueue.java:435)\n";
        let condition = "locks.AbstractQueuedSynchronizer$ConditionObject";
        let worker = parked(condition, &format!("{take}{EXECUTOR}"));
        assert_eq!(wait("WAITING (parking)", &worker, None), Some(WaitKind::Condition));
        let consumer = parked(condition, &format!("{take}\tat shop.Consumer.run(Consumer.java:1)\n{EXECUTOR}"));
        assert_eq!(wait("WAITING (parking)", &consumer, None), Some(WaitKind::Condition));
        // A handler that takes a connection out of a queue waits for those that have the others.
        let handler = parked(condition, &format!("{take}{SERVER}"));
        assert_eq!(name(wait("WAITING (parking)", &handler, None)).as_deref(), Some("queue"));
        let borrow = "\tat com.zaxxer.hikari.util.ConcurrentBag.borrow(ConcurrentBag.java:151)\n";
        let pool = parked("SynchronousQueue", &format!("{borrow}{SERVER}"));
        assert_eq!(name(wait("TIMED_WAITING (parking)", &pool, None)).as_deref(), Some("pool"));
    }

    #[test]
    fn a_thread_in_a_native_method_does_what_the_kernel_shows() {
        let read = format!("\tat sun.nio.ch.SocketDispatcher.read0(java.base@17/Native Method)\n{SERVER}");
        let socket = WaitKind::Socket { descriptor: 5, inode: 7 };
        assert_eq!(wait("RUNNABLE", &read, Some(KernelWait::Wait(socket.clone()))), Some(socket));
        assert_eq!(wait("RUNNABLE", &read, Some(KernelWait::Running)), None);
        assert_eq!(wait("RUNNABLE", SERVER, None), None);
        let sleep = format!("\tat java.lang.Thread.sleep(java.base@17/Native Method)\n{SERVER}");
        assert_eq!(wait("TIMED_WAITING (sleeping)", &sleep, None), Some(WaitKind::Sleep));
    }
}
