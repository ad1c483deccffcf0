//! Errors of PostgreSQL, from its driver and from Diesel, by kind.

use crate::error::{DataError, ErrorKind};
use diesel::ConnectionError;
use diesel::result::{DatabaseErrorKind, Error as DieselError};
use tokio_postgres::Error;
use tokio_postgres::error::DbError;

/// Classifies the error of a statement.
pub(super) fn classify(error: &Error) -> DataError {
    match error.as_db_error() {
        Some(error) => by_code("PostgreSQL", error),
        None if error.is_closed() || io(error).is_some() => lost(error),
        None => other(error),
    }
}

/// Classifies the error of a connection to `server` that could not be opened.
pub(super) fn classify_connect(server: &str, error: &Error) -> DataError {
    if let Some(error) = io(error) {
        return DataError::refused(server, error);
    }
    let text = error.to_string();
    let kind = match error.as_db_error() {
        Some(error) => return by_code(server, error),
        None if error.is_closed() => ErrorKind::Refused,
        None if text.contains("authentication") || text.contains("password") => ErrorKind::Denied,
        None if text.contains("configuration") || text.contains("TLS") => ErrorKind::BadUrl,
        None => ErrorKind::Other,
    };
    DataError::new(kind, format_args!("{server}: {}", with_cause(error)))
}

/// Classifies an error of Diesel by its text: Diesel does not keep PostgreSQL's error code.
pub(super) fn classify_model(error: DieselError) -> DataError {
    let DieselError::DatabaseError(kind, info) = &error else { return other(&error) };
    let text = info.message();
    let kind = match kind {
        DatabaseErrorKind::UnableToSendCommand | DatabaseErrorKind::ClosedConnection => return lost(text),
        _ if text.contains("terminating connection") => return lost(text),
        _ if text.contains("statement timeout") || text.contains("lock timeout") => ErrorKind::TimedOut,
        _ if text.contains("deadlock detected") || text.contains("could not serialize") => ErrorKind::Conflict,
        // A new connection may lead to a server that accepts writes.
        _ if text.contains("read-only") => {
            return DataError::new(ErrorKind::Conflict, format_args!("PostgreSQL: {text}"));
        }
        _ if text.contains("relation") && text.contains("does not exist") => ErrorKind::MissingTable,
        _ => ErrorKind::Other,
    };
    DataError::new(kind, format_args!("PostgreSQL: {text}")).with_usable_connection()
}

/// Classifies the error of a connection that the model could not take over.
pub(super) fn classify_model_connect(error: &ConnectionError) -> DataError {
    lost(error)
}

fn by_code(server: &str, error: &DbError) -> DataError {
    let text = format!("{server}: {}", error.message());
    let kind = match error.code().code() {
        "28P01" | "28000" | "42501" => ErrorKind::Denied,
        "3D000" => ErrorKind::MissingDatabase,
        "42P01" => ErrorKind::MissingTable,
        "57014" | "55P03" => ErrorKind::TimedOut,
        "40P01" | "40001" => ErrorKind::Conflict,
        // A server that accepts no writes any more: a new connection may lead to one that does.
        "25006" => return DataError::new(ErrorKind::Conflict, text),
        "53300" => return DataError::server_exhausted(text),
        // The server shuts down or starts up.
        "57P03" => return DataError::new(ErrorKind::Refused, text),
        code if code.starts_with("57P") || code.starts_with("08") => return DataError::new(ErrorKind::Lost, text),
        _ => ErrorKind::Other,
    };
    DataError::new(kind, text).with_usable_connection()
}

fn lost(error: impl std::fmt::Display) -> DataError {
    DataError::new(ErrorKind::Lost, format_args!("the connection to PostgreSQL was closed: {error}"))
}

fn other(error: &dyn std::error::Error) -> DataError {
    DataError::new(ErrorKind::Other, format_args!("PostgreSQL: {}", with_cause(error)))
}

fn io(error: &Error) -> Option<&std::io::Error> {
    std::error::Error::source(error).and_then(|cause| cause.downcast_ref())
}

/// Returns an error in one line with its cause, unless its text contains the cause already.
fn with_cause(error: &dyn std::error::Error) -> String {
    let text = error.to_string();
    match error.source().map(ToString::to_string) {
        Some(cause) if !text.contains(&cause) => format!("{text}: {cause}"),
        _ => text,
    }
}
