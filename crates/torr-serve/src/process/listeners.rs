//! A server's listeners, which are opened here, inherited from a supervisor, or passed by systemd, and the role of this
//! process that follows.

use crate::error::ServeError;
use crate::process::inherited::{self, Inheritance, Member};
use crate::process::systemd;
use crate::settings::Settings;
use std::fmt::Debug;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_net::{Address, file_limit, socket};

/// The number of times that another port is selected where HTTP/3 cannot have one.
const TRIES: usize = 16;

/// The role of this process in a server.
#[derive(Debug, Default)]
pub(crate) enum Part {
    /// The only process of the server.
    #[default]
    Alone,
    /// The supervisor of worker processes.
    Supervisor,
    /// A worker process with a channel to its supervisor.
    Worker(Member),
}

pub(crate) struct Listeners {
    /// One listener for each worker thread, in a supervisor for those of all worker processes.
    pub listeners: Vec<OwnedFd>,
    pub address: Address,
    pub part: Part,
    /// Whether these are copies of one socket.
    pub are_shared: bool,
}

/// Takes the listeners that this process has inherited, or else opens them.
pub(crate) fn take(address: impl ToSocketAddrs + Debug, settings: &Settings) -> Result<Listeners, ServeError> {
    let handed_over = |error: io::Error| ServeError::HandedOver(error.to_string());
    if settings.processes > 0 {
        only_one()?;
        if let Some(Inheritance { member, listeners }) = inherited::take().map_err(handed_over)? {
            let are_shared = settings.shared_listener;
            let first = listeners.first().ok_or_else(|| ServeError::HandedOver("no socket was passed".into()))?;
            return Ok(Listeners {
                address: socket::local_address(first)?,
                listeners,
                part: Part::Worker(member),
                are_shared,
            });
        }
    }
    let part = if settings.processes > 0 { Part::Supervisor } else { Part::Alone };
    let workers = settings.workers.max(1);
    let count = workers * settings.processes.max(1);
    // A supervisor has descriptors of each worker process, and a second copy of a worker's listeners while it starts the worker.
    file_limit::raise_for_connections((count + 2 * workers + 8 * settings.processes) as u64);
    let sockets = systemd::sockets().map_err(handed_over)?;
    if sockets.is_empty() {
        let (listeners, address) = open(address, settings, count)?;
        return Ok(Listeners { listeners, address: address.into(), part, are_shared: settings.shared_listener });
    }
    if sockets.len() > workers {
        let (sockets, plural) = (sockets.len(), if workers == 1 { "" } else { "s" });
        return Err(ServeError::HandedOver(format!(
            "expected one per worker thread, found {sockets} for {workers} worker{plural}"
        )));
    }
    let adopt = |socket| socket::adopt(socket, settings.defer_accept);
    let sockets = sockets.into_iter().map(adopt).collect::<io::Result<Vec<_>>>().map_err(handed_over)?;
    let address = socket::local_address(&sockets[0])?;
    // Each process has all sockets, assigned to its threads round-robin.
    let of_thread = |number: usize| sockets[number % workers % sockets.len()].try_clone();
    let listeners = (0..count).map(of_thread).collect::<io::Result<_>>()?;
    Ok(Listeners { listeners, address, part, are_shared: sockets.len() == 1 })
}

/// Adopts a listener that the program has opened. All workers of this process share it.
pub(crate) fn adopt(listener: OwnedFd, settings: &Settings) -> Result<Listeners, ServeError> {
    if settings.processes > 0 {
        let fault = "worker processes open their own listeners: use Server::bind, or set processes to 0";
        return Err(ServeError::Settings(fault.into()));
    }
    let handed_over = |error: io::Error| ServeError::HandedOver(error.to_string());
    let listener = socket::adopt(listener, settings.defer_accept).map_err(handed_over)?;
    let address = socket::local_address(&listener)?;
    let mut listeners = vec![listener];
    while listeners.len() < settings.workers {
        listeners.push(listeners[0].try_clone()?);
    }
    Ok(Listeners { listeners, address, part: Part::Alone, are_shared: true })
}

/// Returns an error on a second call: a worker process could not tell which of several servers it belongs to.
fn only_one() -> Result<(), ServeError> {
    static BOUND: AtomicBool = AtomicBool::new(false);
    match BOUND.swap(true, Ordering::Relaxed) {
        false => Ok(()),
        true => Err(io::Error::other("a program can have only one server with worker processes").into()),
    }
}

fn open(
    address: impl ToSocketAddrs + Debug,
    settings: &Settings,
    count: usize,
) -> Result<(Vec<OwnedFd>, SocketAddr), ServeError> {
    let invalid = |why: String| {
        let shown = format!("{address:?}");
        ServeError::Address(format!("'{}': {why}", shown.trim_matches('"')))
    };
    let mut addresses = address.to_socket_addrs().map_err(|error| invalid(unresolved(&error)))?;
    let address = addresses.next().ok_or_else(|| invalid("the name does not resolve to an address".into()))?;
    let (backlog, deferred) = (settings.backlog, settings.defer_accept);
    let failed = |error: io::Error| match inherited::number_of_idle_worker() {
        Some(number) if error.kind() == io::ErrorKind::AddrInUse && settings.processes == 0 => {
            ServeError::Settings(format!(
                "worker process {number} has processes = 0, unlike its supervisor, which listens on {address}: \
                 restart to change processes, and read the settings from a file instead of a pipe"
            ))
        }
        _ => ServeError::Listen { address, error },
    };
    // Workers share the port with SO_REUSEPORT, with which a second server could share it unnoticed: so the port is first
    // checked to be free.
    let reserve = || socket::reserve(address).and_then(|probe| socket::local_addr(&probe)).map_err(failed);
    let mut free = reserve()?;
    for _ in 0..TRIES {
        // HTTP/3 needs the port of UDP as well, which is another program's now and then where the kernel selects a port of TCP.
        if address.port() != 0 || !settings.http3 || UdpSocket::bind(free).is_ok() {
            break;
        }
        free = reserve()?;
    }
    let address = free;
    if settings.shared_listener {
        let listener = socket::listen(address, backlog, false, deferred).map_err(failed)?;
        let copies = (0..count).map(|_| listener.try_clone()).collect::<io::Result<_>>()?;
        return Ok((copies, address));
    }
    let listen = |_| socket::listen(address, backlog, true, deferred).map_err(failed);
    Ok(((0..count).map(listen).collect::<Result<_, _>>()?, address))
}

/// Returns why an address is none.
fn unresolved(error: &io::Error) -> String {
    match error.kind() {
        // The text was not even a name and a port.
        io::ErrorKind::InvalidInput => format!("{error}: expected a host and a port, such as 127.0.0.1:8080"),
        _ => format!("cannot resolve the name ({error})"),
    }
}
