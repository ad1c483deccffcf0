//! The error of a server that cannot serve.

use std::io;
use std::net::SocketAddr;
use std::process::ExitStatus;
use thiserror::Error;
use torr_net::errors::describe;
use torr_net::tls::TlsError;

/// Why a server cannot serve.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The settings do not allow to serve.
    #[error("{0}")]
    Settings(String),
    /// The address is none, or its name does not resolve.
    #[error("no address to listen on: {0}")]
    Address(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {}", describe(.error))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// The access log cannot be opened.
    #[error("cannot open the access log '{target}': {}", describe(.error))]
    Log {
        /// Where it should go.
        target: String,
        /// Why.
        error: io::Error,
    },
    /// A certificate or key is of no use.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Sockets that were handed over cannot be served.
    #[error("cannot serve the sockets that were handed over: {0}")]
    HandedOver(String),
    /// The pid file is another's, or cannot be written.
    #[error("{0}")]
    PidFile(String),
    /// A worker process ended before all of them served. It has said why itself, if it could.
    #[error("worker process {number} ended before it was ready: {status}")]
    Worker {
        /// Which.
        number: usize,
        /// How.
        status: ExitStatus,
    },
    /// The system refused a thread, a poller or a signal.
    #[error("the system refused: {0}")]
    System(#[from] io::Error),
    /// The calling thread runs async code of tokio's, which a server that runs there would block.
    #[error(
        "cannot serve here: this thread runs async code, which would stand still as long as the server runs; \
         call this from a thread of its own (std::thread::spawn) or by tokio::task::spawn_blocking, or from a main function \
         that is not async"
    )]
    InAsync,
    /// A worker panicked, which is a defect of this library.
    #[error("a worker panicked")]
    Panicked,
}
