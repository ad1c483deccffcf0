//! A load thread as scripts have it: the object that `setup` is called with, and `wrk.thread`.

use crate::address::ScriptAddress;
use crate::native::unknown_name;
use crate::transfer;
use mlua::{Error, MetaMethod, UserData, UserDataFields, UserDataMethods, Value, WeakLua};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What scripts decide about a thread.
#[derive(Debug, Default)]
pub struct ThreadControl {
    address: Mutex<Option<SocketAddr>>,
    stopped: AtomicBool,
}

impl ThreadControl {
    /// Returns the control of a thread that runs, with the address that `thread.addr` has at first.
    pub fn new(address: Option<SocketAddr>) -> Self {
        Self { address: Mutex::new(address), stopped: AtomicBool::new(false) }
    }

    /// Returns the value of `thread.addr`.
    pub fn address(&self) -> Option<SocketAddr> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the script has stopped the thread.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// The object that scripts have.
pub struct ScriptThread {
    /// The thread's state, which may own this object.
    pub state: WeakLua,
    /// What the script decides.
    pub control: Arc<ThreadControl>,
}

impl UserData for ScriptThread {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, this| Ok(this.control.address().map(ScriptAddress)));
        fields.add_field_method_set("addr", |_, this, address: Value| {
            let given = address.as_userdata().and_then(|address| Some(address.borrow::<ScriptAddress>().ok()?.0));
            let wrong = || Error::runtime("thread.addr needs an address from wrk.lookup");
            *this.control.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(given.ok_or_else(wrong)?);
            Ok(())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, this, name: Value| {
            let state = this.state.try_upgrade().ok_or_else(gone)?;
            let value: Value = state.globals().get(transfer::copy(&name, &state)?)?;
            transfer::copy(&value, lua)
        });
        methods.add_method("set", |_, this, (name, value): (Value, Value)| {
            let state = this.state.try_upgrade().ok_or_else(gone)?;
            state.globals().set(transfer::copy(&name, &state)?, transfer::copy(&value, &state)?)
        });
        // Scripts pass `thread.id` on.
        methods.add_meta_method(MetaMethod::Index, |lua, _, name: Value| unknown_name(lua, name));
        methods.add_method("stop", |_, this, ()| {
            this.control.stopped.store(true, Ordering::Relaxed);
            Ok(())
        });
    }
}

fn gone() -> Error {
    Error::runtime("the thread has ended")
}
