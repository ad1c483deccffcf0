//! Errors of databases and caches, classified by what the caller can do about them.

use std::fmt;

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The URL cannot be parsed, or has an option that does not exist.
    BadUrl,
    /// The library was built without this database or cache.
    NotBuiltIn,
    /// The server refuses the connection, or the file cannot be opened.
    Refused,
    /// The server rejects the user or the password.
    Denied,
    /// The server has no database of this name.
    MissingDatabase,
    /// A table exists that Torr did not create.
    ForeignTable,
    /// A table does not exist any more.
    MissingTable,
    /// No row has the id.
    MissingRow,
    /// No connection became free in time, or the server is out of connections or memory.
    Exhausted,
    /// The server did not respond in time.
    TimedOut,
    /// The database ended the statement in favour of another one, or accepts no writes at the moment.
    Conflict,
    /// The connection ended during the operation.
    Lost,
    /// Any other error of the server or its driver.
    Other,
}

/// The side of the connection that caused an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client: its settings or its pool.
    Client,
    /// The network, or a server that does not respond.
    Network,
    /// The server, or the embedded database.
    Server,
}

/// An error of a database or cache, or of the network in between.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DataError {
    kind: ErrorKind,
    side: Side,
    message: String,
    /// Whether the connection can serve further operations.
    connection_usable: bool,
}

impl DataError {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        let side = match kind {
            ErrorKind::BadUrl | ErrorKind::NotBuiltIn | ErrorKind::Exhausted => Side::Client,
            ErrorKind::Refused | ErrorKind::Lost => Side::Network,
            _ => Side::Server,
        };
        Self { kind, side, message: message.to_string(), connection_usable: false }
    }

    /// Returns the error of a server that is out of connections or memory.
    #[cfg(feature = "sockets")]
    pub(crate) fn server_exhausted(message: impl fmt::Display) -> Self {
        Self { side: Side::Server, ..Self::new(ErrorKind::Exhausted, message) }
    }

    /// Returns the error of a server, named with its address, to which no connection could be opened.
    #[cfg(feature = "sockets")]
    pub(crate) fn refused(server: &str, error: &std::io::Error) -> Self {
        let hint = match error.kind() {
            std::io::ErrorKind::ConnectionRefused => ": check that it runs, and its host and port",
            _ => "",
        };
        Self::new(ErrorKind::Refused, format_args!("cannot connect to {server}: {error}{hint}"))
    }

    /// Returns the error of a server, named with its address, to which no connection was open in time.
    #[cfg(feature = "sockets")]
    pub(crate) fn not_connected(server: &str, limit: std::time::Duration) -> Self {
        Self::new(ErrorKind::TimedOut, format_args!("timed out after {limit:?} connecting to {server}"))
    }

    pub(crate) fn missing_row(id: i32) -> Self {
        Self { connection_usable: true, ..Self::new(ErrorKind::MissingRow, format_args!("no row with id {id}")) }
    }

    #[cfg(feature = "network")]
    pub(crate) fn timed_out(limit: std::time::Duration) -> Self {
        Self::new(ErrorKind::TimedOut, format_args!("timed out: the database did not respond within {limit:?}"))
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the side that caused the error.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Returns whether a retry may succeed without any change: an HTTP server responds with 503 rather than 500.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::Refused | ErrorKind::Exhausted | ErrorKind::TimedOut | ErrorKind::Conflict | ErrorKind::Lost
        )
    }

    /// Marks the error as the server's response, after which the connection is usable.
    #[cfg(feature = "sockets")]
    pub(crate) fn with_usable_connection(self) -> Self {
        Self { connection_usable: true, ..self }
    }

    /// Returns whether the connection can serve further operations.
    #[cfg(feature = "sockets")]
    pub(crate) fn leaves_connection_usable(&self) -> bool {
        self.connection_usable
    }
}
