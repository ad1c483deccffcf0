//! Where a server's listeners come from: opened here, left by a supervisor, or handed over by systemd; and what part that
//! gives this process.

use crate::error::ServeError;
use crate::process::inherited::{self, Inheritance, Member};
use crate::process::systemd;
use crate::settings::Settings;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_net::{file_limit, socket};

/// What this process is to a server.
#[derive(Debug, Default)]
pub(crate) enum Part {
    /// All of it.
    #[default]
    Alone,
    /// It starts workers and looks after them.
    Supervisor,
    /// It is such a worker, and hears from its supervisor.
    Worker(Member),
}

pub(crate) struct Listeners {
    /// One for each worker thread of each worker process, or of those of this one.
    pub listeners: Vec<OwnedFd>,
    pub address: SocketAddr,
    pub part: Part,
}

/// Takes the listeners that were left or handed over to this process, or else opens them.
pub(crate) fn take(address: impl ToSocketAddrs, settings: &Settings) -> Result<Listeners, ServeError> {
    let handed_over = |error: io::Error| ServeError::HandedOver(error.to_string());
    if settings.processes > 0 {
        only_one()?;
        if let Some(Inheritance { member, listeners }) = inherited::take().map_err(handed_over)? {
            let first = listeners.first().ok_or_else(|| ServeError::HandedOver("there is none".into()))?;
            return Ok(Listeners { address: socket::local_addr(first)?, listeners, part: Part::Worker(member) });
        }
    }
    let part = if settings.processes > 0 { Part::Supervisor } else { Part::Alone };
    let workers = settings.workers.max(1);
    let count = workers * settings.processes.max(1);
    // A supervisor has the ends of each worker process, and while it starts one, that one's listeners twice.
    file_limit::raise_for_connections((count + 2 * workers + 8 * settings.processes) as u64);
    let sockets = systemd::sockets().map_err(handed_over)?;
    if sockets.is_empty() {
        let (listeners, address) = open(address, settings, count)?;
        return Ok(Listeners { listeners, address, part });
    }
    if sockets.len() > workers {
        let (sockets, plural) = (sockets.len(), if workers == 1 { "" } else { "s" });
        return Err(ServeError::HandedOver(format!(
            "a worker thread serves one, and there are {sockets} for {workers} worker{plural}"
        )));
    }
    let adopt = |socket| socket::adopt(socket, settings.defer_accept);
    let sockets = sockets.into_iter().map(adopt).collect::<io::Result<Vec<_>>>().map_err(handed_over)?;
    let address = socket::local_addr(&sockets[0])?;
    // The same for each process, in turns among its threads.
    let of_thread = |number: usize| sockets[number % workers % sockets.len()].try_clone();
    let listeners = (0..count).map(of_thread).collect::<io::Result<_>>()?;
    Ok(Listeners { listeners, address, part })
}

/// A program that is started again as a worker could not tell for which of several servers.
fn only_one() -> Result<(), ServeError> {
    static BOUND: AtomicBool = AtomicBool::new(false);
    match BOUND.swap(true, Ordering::Relaxed) {
        false => Ok(()),
        true => {
            Err(io::Error::other("a program can have one server with worker processes, and has one already").into())
        }
    }
}

fn open(
    address: impl ToSocketAddrs,
    settings: &Settings,
    count: usize,
) -> Result<(Vec<OwnedFd>, SocketAddr), ServeError> {
    let mut addresses = address.to_socket_addrs().map_err(|error| ServeError::Address(error.to_string()))?;
    let address = addresses.next().ok_or_else(|| ServeError::Address("the name has none".into()))?;
    let (backlog, deferred) = (settings.backlog, settings.defer_accept);
    let failed = |error| ServeError::Listen { address, error };
    // Workers share the port, which would let a second server share it unnoticed: see first that it is free.
    let probe = socket::reserve(address).map_err(failed)?;
    let address = socket::local_addr(&probe)?;
    drop(probe);
    let listen = |_| socket::listen(address, backlog, true, deferred).map_err(failed);
    Ok(((0..count).map(listen).collect::<Result<_, _>>()?, address))
}
