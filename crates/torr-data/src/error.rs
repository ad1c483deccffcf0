//! What can go wrong with a database or cache, sorted by what somebody can do about it.

use std::fmt;

/// Which kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The URL cannot be read, or asks for something that does not exist.
    BadUrl,
    /// The URL is right, but the library was built without that database or cache.
    NotBuiltIn,
    /// Nobody listens there, or the file cannot be opened.
    Refused,
    /// The server does not accept this user or password.
    Denied,
    /// The server has no database of this name.
    MissingDatabase,
    /// A table is there that Torr has not made.
    ForeignTable,
    /// A table is not there any more.
    MissingTable,
    /// No row has this id.
    MissingRow,
    /// All connections are in use, and none came free in time; or the server has no room left.
    Exhausted,
    /// The server took too long.
    TimedOut,
    /// The database has ended it in favour of another statement, or takes no writes at the moment.
    Conflict,
    /// The connection ended while it was needed.
    Lost,
    /// All else that the server or its driver says.
    Other,
}

/// On which side of the connection the cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Here: settings, or the pool.
    Client,
    /// Between here and the server: also if nobody answers.
    Network,
    /// The server itself, or the embedded database.
    Server,
}

/// A failure of a database or cache, or of the path to either.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DataError {
    kind: ErrorKind,
    side: Side,
    message: String,
    /// Whether the connection can go on as if nothing had happened.
    sound: bool,
}

impl DataError {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        let side = match kind {
            ErrorKind::BadUrl | ErrorKind::NotBuiltIn | ErrorKind::Exhausted => Side::Client,
            ErrorKind::Refused | ErrorKind::Lost => Side::Network,
            _ => Side::Server,
        };
        Self { kind, side, message: message.to_string(), sound: false }
    }

    /// The server itself takes no more connections, or has no more memory.
    #[cfg(feature = "sockets")]
    pub(crate) fn full(message: impl fmt::Display) -> Self {
        Self { side: Side::Server, ..Self::new(ErrorKind::Exhausted, message) }
    }

    pub(crate) fn missing_row(id: i32) -> Self {
        Self { sound: true, ..Self::new(ErrorKind::MissingRow, format_args!("no row has the id {id}")) }
    }

    #[cfg(feature = "network")]
    pub(crate) fn timed_out(limit: std::time::Duration) -> Self {
        Self::new(ErrorKind::TimedOut, format_args!("the database did not answer within {limit:?}"))
    }

    /// Which kind of failure it was.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// On which side the cause is.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Whether the same may succeed a little later, without anybody's doing: what a server answers by 503 rather than 500.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::Refused | ErrorKind::Exhausted | ErrorKind::TimedOut | ErrorKind::Conflict | ErrorKind::Lost
        )
    }

    /// Says that the server itself has said no, over a connection that goes on.
    #[cfg(feature = "sockets")]
    pub(crate) fn on_sound_connection(self) -> Self {
        Self { sound: true, ..self }
    }

    /// Whether the connection it came from can go on as if nothing had happened.
    #[cfg(feature = "sockets")]
    pub(crate) fn leaves_connection_sound(&self) -> bool {
        self.sound
    }
}
