//! The bytes of a response on their way from the task that makes them to the connection that sends them.

use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;
use tokio::sync::Notify;

/// The number of bytes at which the task waits, and the number at which it goes on.
const HIGH_WATER: usize = 64 * 1024;
const LOW_WATER: usize = 16 * 1024;

/// How a response ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseEnd {
    /// All of it is in the queue.
    Complete,
    /// The body failed.
    Failed,
}

/// The bytes of one response.
#[derive(Debug)]
pub(super) struct Outgoing {
    queue: RefCell<VecDeque<Bytes>>,
    queued: Cell<usize>,
    /// Whether anything of a response was ever in the queue.
    has_begun: Cell<bool>,
    end: Cell<Option<ResponseEnd>>,
    room: Notify,
    waker: Waker,
    /// Whether the connection itself polls the task, and looks at the queue behind that.
    is_polled_here: Cell<bool>,
}

impl Outgoing {
    /// Returns an empty queue of a connection with this waker.
    pub fn new(waker: Waker) -> Rc<Self> {
        let [has_begun, is_polled_here] = [const { Cell::new(false) }; 2];
        let (queue, queued, end) = (RefCell::default(), Cell::new(0), Cell::new(None));
        Rc::new(Self { queue, queued, has_begun, end, room: Notify::new(), waker, is_polled_here })
    }

    /// Returns the waker of the connection.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Appends bytes.
    pub fn push(&self, bytes: Bytes) {
        self.has_begun.set(true);
        self.queued.set(self.queued.get() + bytes.len());
        self.queue.borrow_mut().push_back(bytes);
        self.wake();
    }

    /// Ends the response.
    pub fn end(&self, end: ResponseEnd) {
        self.end.set(Some(end));
        self.wake();
    }

    fn wake(&self) {
        if !self.is_polled_here.get() {
            self.waker.wake_by_ref();
        }
    }

    /// Calls `poll` without a wake-up of the connection, which looks at the queue itself.
    pub fn without_wake<T>(&self, poll: impl FnOnce() -> T) -> T {
        self.is_polled_here.set(true);
        let polled = poll();
        self.is_polled_here.set(false);
        polled
    }

    /// Waits until there is room for more.
    pub async fn has_room(&self) {
        if self.queued.get() < HIGH_WATER {
            return;
        }
        while self.queued.get() > LOW_WATER {
            self.room.notified().await;
        }
    }

    /// Sends bytes by `write`, which takes them off the front and returns whether none are left. Returns how many were sent, and whether
    /// some are left.
    pub fn send(&self, mut write: impl FnMut(&mut Bytes) -> bool) -> (usize, bool) {
        let (mut queue, before) = (self.queue.borrow_mut(), self.queued.get());
        while let Some(first) = queue.front_mut() {
            let len = first.len();
            let is_taken = write(first);
            self.queued.set(self.queued.get() - (len - first.len()));
            if !is_taken {
                break;
            }
            queue.pop_front();
        }
        if self.queued.get() <= LOW_WATER {
            self.room.notify_one();
        }
        (before - self.queued.get(), !queue.is_empty())
    }

    /// Returns how the response ends, once that is known.
    pub fn ended(&self) -> Option<ResponseEnd> {
        self.end.get()
    }

    /// Whether a response has begun.
    pub fn has_begun(&self) -> bool {
        self.has_begun.get()
    }

    /// Whether there is something to send, or an end.
    pub fn is_pending(&self) -> bool {
        self.end.get().is_some() || !self.queue.borrow().is_empty()
    }
}
