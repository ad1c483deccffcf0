//! What PostgreSQL and its driver say, and what Diesel says of them, sorted.

use crate::error::{DataError, ErrorKind};
use diesel::ConnectionError;
use diesel::result::{DatabaseErrorKind, Error as DieselError};
use tokio_postgres::Error;
use tokio_postgres::error::DbError;

/// What went wrong with a statement.
pub(super) fn sorted(error: &Error) -> DataError {
    match error.as_db_error() {
        Some(said) => by_code(said),
        None if error.is_closed() || io(error).is_some() => lost(error),
        None => other(error),
    }
}

/// What went wrong before there was a connection.
pub(super) fn sorted_connecting(error: &Error) -> DataError {
    let text = error.to_string();
    let kind = match error.as_db_error() {
        Some(said) => return by_code(said),
        None if io(error).is_some() => ErrorKind::Refused,
        None if error.is_closed() => ErrorKind::Refused,
        None if text.contains("authentication") || text.contains("password") => ErrorKind::Denied,
        None if text.contains("configuration") || text.contains("TLS") => ErrorKind::BadUrl,
        None => ErrorKind::Other,
    };
    DataError::new(kind, format_args!("PostgreSQL: {}", with_cause(error)))
}

/// The model says the same, but keeps the text only, not the code.
pub(super) fn sorted_model(error: DieselError) -> DataError {
    let DieselError::DatabaseError(kind, said) = &error else { return other(&error) };
    let said = said.message();
    let kind = match kind {
        DatabaseErrorKind::UnableToSendCommand | DatabaseErrorKind::ClosedConnection => return lost(said),
        _ if said.contains("terminating connection") => return lost(said),
        _ if said.contains("statement timeout") || said.contains("lock timeout") => ErrorKind::TimedOut,
        _ if said.contains("deadlock detected") || said.contains("could not serialize") => ErrorKind::Conflict,
        // Another connection may lead to one that takes writes.
        _ if said.contains("read-only") => {
            return DataError::new(ErrorKind::Conflict, format_args!("PostgreSQL: {said}"));
        }
        _ if said.contains("relation") && said.contains("does not exist") => ErrorKind::MissingTable,
        _ => ErrorKind::Other,
    };
    DataError::new(kind, format_args!("PostgreSQL: {said}")).on_sound_connection()
}

/// What went wrong while the model made a connection its own.
pub(super) fn sorted_connection(error: &ConnectionError) -> DataError {
    lost(error)
}

fn by_code(said: &DbError) -> DataError {
    let text = format!("PostgreSQL: {}", said.message());
    let kind = match said.code().code() {
        "28P01" | "28000" | "42501" => ErrorKind::Denied,
        "3D000" => ErrorKind::MissingDatabase,
        "42P01" => ErrorKind::MissingTable,
        "57014" | "55P03" => ErrorKind::TimedOut,
        "40P01" | "40001" => ErrorKind::Conflict,
        // It takes no writes (any more): another connection may lead to one that does.
        "25006" => return DataError::new(ErrorKind::Conflict, text),
        "53300" => return DataError::full(text),
        // It is shutting down, or starting up.
        "57P03" => return DataError::new(ErrorKind::Refused, text),
        code if code.starts_with("57P") || code.starts_with("08") => return DataError::new(ErrorKind::Lost, text),
        _ => ErrorKind::Other,
    };
    DataError::new(kind, text).on_sound_connection()
}

fn lost(error: impl std::fmt::Display) -> DataError {
    DataError::new(ErrorKind::Lost, format_args!("the connection to PostgreSQL has ended: {error}"))
}

fn other(error: &dyn std::error::Error) -> DataError {
    DataError::new(ErrorKind::Other, format_args!("PostgreSQL: {}", with_cause(error)))
}

fn io(error: &Error) -> Option<&std::io::Error> {
    std::error::Error::source(error).and_then(|cause| cause.downcast_ref())
}

/// An error in one line with its cause, which some say themselves already.
fn with_cause(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    match error.source().map(ToString::to_string) {
        Some(cause) if !text.contains(&cause) => format!("{text}: {cause}"),
        _ => text,
    }
}
