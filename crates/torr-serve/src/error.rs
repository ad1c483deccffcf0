//! The error of a server that cannot start or serve.

use rustix::io::Errno;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::process::ExitStatus;
use thiserror::Error;
use torr_net::errors::describe;
use torr_net::tls::TlsError;

impl From<ServeError> for io::Error {
    /// Returns the system's error where there is one alone, otherwise an error of the same kind that has the whole message.
    fn from(error: ServeError) -> Self {
        let kind = match &error {
            ServeError::Listen { error, .. } | ServeError::ListenUdp { error, .. } | ServeError::Log { error, .. } => {
                error.kind()
            }
            ServeError::Settings(_) | ServeError::Address(_) => io::ErrorKind::InvalidInput,
            _ => io::ErrorKind::Other,
        };
        match error {
            ServeError::System(error) => error,
            error => Self::new(kind, error),
        }
    }
}

/// Returns what the operator can do about an error of the system, if that is known.
fn remedy(error: &io::Error) -> &'static str {
    if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) {
        "; raise the limit of open files (ulimit -n, LimitNOFILE=)"
    } else {
        ""
    }
}

/// Returns the remedy of an error of listening, if one is known: that of a missing right names the right.
fn remedy_of_listening(address: &SocketAddr, error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied if address.port() < 1024 => {
            "; ports below 1024 need root or CAP_NET_BIND_SERVICE: use a port from 1024 on"
        }
        _ => remedy(error),
    }
}

/// An error of a server that cannot start or serve.
#[derive(Error)]
pub enum ServeError {
    /// The settings are not valid.
    #[error("{0}")]
    Settings(String),
    /// The address is not valid, or its name does not resolve; the text has the address.
    #[error("cannot listen on {0}")]
    Address(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {}{}", describe(.error), remedy_of_listening(.address, .error))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The UDP port of HTTP/3 cannot be listened on.
    #[error("cannot listen on {address} by UDP for HTTP/3: {}{}", describe(.error), remedy_of_listening(.address, .error))]
    ListenUdp {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The access log cannot be opened.
    #[error("cannot open the access log '{target}': {}", describe(.error))]
    Log {
        /// The destination of the log.
        target: String,
        /// The system's error.
        error: io::Error,
    },
    /// A certificate or key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Sockets that the process has inherited cannot be served.
    #[error("cannot use the inherited sockets: {0}")]
    HandedOver(String),
    /// The pid file belongs to another process, or cannot be written.
    #[error("{0}")]
    PidFile(String),
    /// A worker process ended before all of them served. It has printed the reason itself, if possible.
    #[error("worker process {number} ended before it was ready: {status}")]
    Worker {
        /// The worker's number, from 1.
        number: usize,
        /// The process's status.
        status: ExitStatus,
    },
    /// The system refused a thread, a poller or a signal.
    #[error("system error: {}{}", .0, remedy(.0))]
    System(#[from] io::Error),
    /// The calling thread runs async code of tokio, which the server would block.
    #[error(
        "cannot serve on this thread, as it runs async code: call this from a thread of its own (std::thread::spawn, \
         tokio::task::spawn_blocking), or from a main function that is not async"
    )]
    InAsync,
    /// A worker panicked, which is a defect of this library.
    #[error("a worker panicked")]
    Panicked,
}

/// Writes the text of `Display`. A `main` that returns this error prints it by `Debug`, and its user needs the sentence, not the
/// names of variants.
impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{Errno, ServeError, TlsError, io};

    #[test]
    fn a_main_function_that_returns_an_error_prints_a_sentence() {
        let in_use = || io::Error::from(io::ErrorKind::AddrInUse);
        for (error, words) in [
            (ServeError::Settings("workers must be at most 4096, found 5000".into()), "workers must be at most"),
            (ServeError::Address("'foo': invalid socket address".into()), "cannot listen on 'foo': invalid"),
            (
                ServeError::Listen { address: ([127, 0, 0, 1], 80).into(), error: in_use() },
                "cannot listen on 127.0.0.1:80: address in use",
            ),
            (
                ServeError::Listen { address: ([127, 0, 0, 1], 80).into(), error: Errno::ACCESS.into() },
                "cannot listen on 127.0.0.1:80: permission denied; ports below 1024 need root",
            ),
            (ServeError::Tls(TlsError::NoProvider), "no cryptography for TLS in this program"),
            (
                ServeError::System(Errno::MFILE.into()),
                "system error: Too many open files (os error 24); raise the limit of open files (ulimit -n",
            ),
            (ServeError::InAsync, "cannot serve on this thread, as it runs async code"),
        ] {
            let shown = format!("{error:?}");
            assert!(shown.starts_with(words), "{shown}");
            assert_eq!(shown, error.to_string());
            let is_system = matches!(error, ServeError::System(_));
            let by_io = format!("{:?}", io::Error::from(error));
            assert!(is_system || by_io.contains(&format!("error: {shown} }}")), "{by_io}");
        }
    }
}
