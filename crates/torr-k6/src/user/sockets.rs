//! The sockets of a virtual user, and the calls of its connections: their handles, and the mail that has arrived for them.

use crate::sockets::{Event, Mail, Outlet, Signal, SocketHandle};
use rquickjs::{Ctx, Result};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What handles the events of a socket or of a call beside the script.
pub trait Attendant {
    /// Handles an event.
    ///
    /// # Errors
    /// Whatever the script throws.
    fn deliver(&self, ctx: &Ctx<'_>, event: Event) -> Result<()>;

    /// Notes that the script has sent a message.
    fn note_sent(&self);
}

/// The sockets of a virtual user, and the calls of its connections.
#[derive(Default)]
pub struct UserSockets {
    /// Where mail arrives; `None` before the first socket.
    post: RefCell<Option<Post>>,
    /// The signal of the user's thread, with the user's slot there.
    signal: RefCell<Option<(Arc<Signal>, usize)>>,
    /// The mail that was taken from the post.
    taken: RefCell<VecDeque<Mail>>,
    open: RefCell<Vec<Open>>,
    /// The number of sockets that the iteration waits for.
    awaited: Cell<usize>,
}

struct Post {
    outlet: Outlet,
    arrives: mpsc::Receiver<Mail>,
}

struct Open {
    id: u64,
    /// The WebSocket, if it is one.
    handle: Option<Rc<SocketHandle>>,
    attendant: Option<Rc<dyn Attendant>>,
}

impl std::fmt::Debug for UserSockets {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("UserSockets").field("open", &self.open.borrow().len()).finish_non_exhaustive()
    }
}

impl UserSockets {
    /// Gives the user the signal of its thread. Without one it has no sockets.
    pub fn live_at(&self, signal: Arc<Signal>, slot: usize) {
        *self.signal.borrow_mut() = Some((signal, slot));
    }

    /// Returns where the events of a new socket go; `None` if the user may have no sockets.
    pub fn outlet(&self) -> Option<Outlet> {
        let signal = self.signal.borrow();
        let (signal, slot) = signal.as_ref()?;
        let mut post = self.post.borrow_mut();
        let post = post.get_or_insert_with(|| {
            let (outlet, arrives) = Outlet::new(signal.clone(), *slot);
            Post { outlet, arrives }
        });
        Some(post.outlet.clone())
    }

    /// Keeps a socket. With an attendant its events are handled beside the script, and an iteration ends after the socket.
    pub fn keep(&self, id: u64, handle: Rc<SocketHandle>, attendant: Option<Rc<dyn Attendant>>) {
        self.add(Open { id, handle: Some(handle), attendant });
    }

    /// Keeps what is no WebSocket, such as a call, so that its mail is kept. An attendant is what it is for a socket.
    pub fn expect(&self, id: u64, attendant: Option<Rc<dyn Attendant>>) {
        self.add(Open { id, handle: None, attendant });
    }

    /// Gives what is kept without an attendant one.
    pub fn attend(&self, id: u64, attendant: Rc<dyn Attendant>) {
        let mut open = self.open.borrow_mut();
        if let Some(open) = open.iter_mut().find(|open| open.id == id && open.attendant.is_none()) {
            open.attendant = Some(attendant);
            self.awaited.set(self.awaited.get() + 1);
        }
    }

    fn add(&self, open: Open) {
        if open.attendant.is_some() {
            self.awaited.set(self.awaited.get() + 1);
        }
        self.open.borrow_mut().push(open);
    }

    /// Returns the handle of a socket that is kept.
    pub fn handle(&self, id: u64) -> Option<Rc<SocketHandle>> {
        self.open.borrow().iter().find(|open| open.id == id)?.handle.clone()
    }

    /// Returns what handles the events of a socket beside the script.
    pub fn attendant(&self, id: u64) -> Option<Rc<dyn Attendant>> {
        self.open.borrow().iter().find(|open| open.id == id)?.attendant.clone()
    }

    /// Drops a socket, and its mail.
    pub fn drop_socket(&self, id: u64) {
        let mut open = self.open.borrow_mut();
        let Some(at) = open.iter().position(|open| open.id == id) else { return };
        let dropped = open.swap_remove(at);
        drop(open);
        if dropped.attendant.is_some() {
            self.awaited.set(self.awaited.get().saturating_sub(1));
        }
        self.taken.borrow_mut().retain(|mail| mail.socket != id);
        drop(dropped);
    }

    /// Drops all sockets, and all mail.
    pub fn clear(&self) {
        if self.open.borrow().is_empty() && self.taken.borrow().is_empty() {
            return;
        }
        let open = std::mem::take(&mut *self.open.borrow_mut());
        self.awaited.set(0);
        self.taken.borrow_mut().clear();
        drop(open);
    }

    /// Returns whether mail has arrived that was not looked at.
    pub fn has_mail(&self) -> bool {
        self.post.borrow().as_ref().is_some_and(|post| !post.arrives.is_empty())
    }

    /// Returns whether the iteration waits for sockets.
    pub fn are_awaited(&self) -> bool {
        self.awaited.get() > 0
    }

    /// Takes the next event of a socket.
    pub fn take_of(&self, id: u64) -> Option<Event> {
        self.collect();
        let mut taken = self.taken.borrow_mut();
        let at = taken.iter().position(|mail| mail.socket == id)?;
        taken.remove(at).map(|mail| mail.event)
    }

    /// Handles the next event of a socket whose mail is handled beside the script. Returns whether there was one.
    ///
    /// # Errors
    /// Whatever the script throws.
    pub fn deliver_next(&self, ctx: &Ctx<'_>) -> Result<bool> {
        if !self.are_awaited() {
            return Ok(false);
        }
        self.collect();
        let next = {
            let mut taken = self.taken.borrow_mut();
            let found = taken.iter().enumerate().find_map(|(at, mail)| Some((at, self.attendant(mail.socket)?)));
            found.and_then(|(at, attendant)| Some((taken.remove(at)?, attendant)))
        };
        match next {
            Some((mail, attendant)) => attendant.deliver(ctx, mail.event).map(|()| true),
            None => Ok(false),
        }
    }

    /// Takes the mail that has arrived, as far as it is that of sockets that are kept.
    fn collect(&self) {
        let mut post = self.post.borrow_mut();
        let Some(post) = post.as_mut() else { return };
        let open = self.open.borrow();
        let mut taken = self.taken.borrow_mut();
        while let Ok(mail) = post.arrives.try_recv() {
            if open.iter().any(|open| open.id == mail.socket) {
                taken.push_back(mail);
            }
        }
    }
}
