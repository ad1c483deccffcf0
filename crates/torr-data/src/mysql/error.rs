//! What MySQL and its driver say, and what Diesel says of them, sorted.

use crate::error::{DataError, ErrorKind};
use diesel::ConnectionError;
use diesel::result::Error as DieselError;
use mysql_async::{Error, ServerError};

/// What went wrong with a statement.
pub(super) fn sorted(error: Error) -> DataError {
    match error {
        Error::Server(said) => by_code(&said),
        Error::Io(_) | Error::Driver(mysql_async::DriverError::ConnectionClosed) => lost(&error),
        _ => DataError::new(ErrorKind::Other, format_args!("MySQL: {error}")),
    }
}

/// What went wrong before there was a connection.
pub(super) fn sorted_connecting(error: Error) -> DataError {
    match error {
        Error::Server(said) => by_code(&said),
        // Not in the driver's words, which may hold the password.
        Error::Url(_) => DataError::new(ErrorKind::BadUrl, "the database's URL cannot be used"),
        _ => DataError::new(ErrorKind::Refused, format_args!("MySQL: {error}")),
    }
}

/// The model says the same, but keeps the text only, not the code. The connection is not trusted after any of it.
pub(super) fn sorted_model(error: DieselError) -> DataError {
    let said = error.to_string();
    let kind = match &error {
        // The driver's own words, which no server says.
        _ if said.starts_with("Input/output error") || said.starts_with("Driver error") => return lost(&said),
        _ if said.contains("max_statement_time") || said.contains("maximum statement execution time") => {
            ErrorKind::TimedOut
        }
        _ if said.contains("Lock wait timeout") => ErrorKind::TimedOut,
        _ if said.contains("Deadlock found") || said.contains("read-only") => ErrorKind::Conflict,
        _ if said.contains("shutdown") || said.contains("killed") => return lost(&said),
        _ if said.contains("doesn't exist") => ErrorKind::MissingTable,
        _ => ErrorKind::Other,
    };
    DataError::new(kind, format_args!("MySQL: {said}"))
}

/// What went wrong while the model made a connection its own.
pub(super) fn sorted_connection(error: &ConnectionError) -> DataError {
    lost(error)
}

fn by_code(said: &ServerError) -> DataError {
    let text = format!("MySQL: {}", said.message);
    let kind = match said.code {
        1044 | 1045 | 1142 | 1698 => ErrorKind::Denied,
        1049 => ErrorKind::MissingDatabase,
        1146 => ErrorKind::MissingTable,
        1969 | 3024 | 1205 => ErrorKind::TimedOut,
        // A deadlock: the transaction is undone, and the connection goes on.
        1213 => ErrorKind::Conflict,
        // It takes no writes (any more): another connection may lead to one that does.
        1290 | 1836 => return DataError::new(ErrorKind::Conflict, text),
        1040 | 1203 | 1226 => return DataError::full(text),
        // It shuts down, or somebody has ended the connection.
        1053 | 1077 | 1079 | 1152 | 1184 | 1317 | 1927 => return DataError::new(ErrorKind::Lost, text),
        _ => ErrorKind::Other,
    };
    DataError::new(kind, text).on_sound_connection()
}

fn lost(error: &dyn std::fmt::Display) -> DataError {
    DataError::new(ErrorKind::Lost, format_args!("the connection to MySQL has ended: {error}"))
}
