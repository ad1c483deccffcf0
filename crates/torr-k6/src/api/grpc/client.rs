//! A client of a script: the methods that it knows, and its connection.

use crate::host::{Host, HostClass, go_error};
use crate::sockets::grpc::{GrpcConnection, GrpcEvent};
use crate::sockets::{Carrier, Event, Outlet};
use crate::user::{self, Vu, wait};
use rquickjs::{Class, Ctx, Object, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use torr_grpc::{Method, SchemaMethod};

/// The state of a client.
#[derive(Default)]
pub(super) struct Client {
    /// The methods by their paths.
    methods: RefCell<BTreeMap<String, Method>>,
    /// The open connection.
    pub connection: RefCell<Option<Rc<Connected>>>,
}

/// An open connection of a client.
pub(super) struct Connected {
    pub connection: GrpcConnection,
    /// The address as the script has given it.
    pub address: String,
    /// The size in bytes of the largest message that is sent.
    pub most_sent: usize,
}

impl HostClass for Client {
    const NAME: &'static str = "GrpcClient";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        Object::new(ctx.clone())
    }
}

/// A client as an argument of a host function.
pub(super) type ClientArg<'js> = Class<'js, Host<Client>>;

impl Client {
    /// Adds methods to those that are known.
    pub fn add(&self, methods: &[SchemaMethod]) {
        let mut known = self.methods.borrow_mut();
        known.extend(methods.iter().map(|method| (method.path.clone(), method.method.clone())));
    }

    /// Returns the path of a method's name, and the method.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn method(&self, name: &str) -> std::result::Result<(String, Method), String> {
        let path = match name {
            "" => return Err("method to invoke cannot be empty".to_owned()),
            _ if name.starts_with('/') => name.to_owned(),
            _ => format!("/{name}"),
        };
        match self.methods.borrow().get(&path) {
            Some(method) => Ok((path, method.clone())),
            None => Err(format!("method {path:?} not found in file descriptors")),
        }
    }

    /// Returns the open connection.
    ///
    /// # Errors
    /// If there is none.
    pub fn connected(&self) -> std::result::Result<Rc<Connected>, String> {
        let connected = self.connection.borrow().clone();
        connected.ok_or_else(|| "no gRPC connection, you must call connect first".to_owned())
    }
}

/// Returns what carries connections, and where their events go.
///
/// # Errors
/// If this command has none.
pub(super) fn carrier<'v>(ctx: &Ctx<'_>, vu: &'v Vu) -> Result<(&'v Carrier, Outlet)> {
    let carrier = vu.run.carrier.get().zip(vu.events.sockets.outlet());
    carrier.ok_or_else(|| {
        let only = "gRPC is supported by 'torr script.js' and 'torr k6 run' only";
        go_error(ctx, &format!("{only}: here calls are no requests"))
    })
}

/// Returns where the events of a virtual user's calls go.
///
/// # Errors
/// If this command has no calls.
pub(super) fn outlet(ctx: &Ctx<'_>, vu: &Vu) -> Result<Outlet> {
    carrier(ctx, vu).map(|(_, outlet)| outlet)
}

/// Waits for the next event of a connection or of a call. `None` if the user was woken for something else.
pub(super) fn next_event(ctx: &Ctx<'_>, vu: &Vu, id: u64) -> Result<Option<GrpcEvent>> {
    let next = || match vu.events.sockets.take_of(id)? {
        Event::Grpc(event) => Some(event),
        Event::Socket(_) | Event::Stream(_) => None,
    };
    if let Some(event) = next() {
        return Ok(Some(event));
    }
    wait(ctx, user::Wanted::Mail(None))?;
    Ok(next())
}
