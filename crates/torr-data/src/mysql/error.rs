//! Errors of MySQL, from its driver and from Diesel, by kind.

use crate::error::{DataError, ErrorKind};
use diesel::ConnectionError;
use diesel::result::Error as DieselError;
use mysql_async::{Error, IoError, ServerError};

/// Classifies the error of a statement.
pub(super) fn classify(error: Error) -> DataError {
    match error {
        Error::Server(error) => by_code("MySQL", &error),
        Error::Io(_) | Error::Driver(mysql_async::DriverError::ConnectionClosed) => lost(&error),
        _ => DataError::new(ErrorKind::Other, format_args!("MySQL: {error}")),
    }
}

/// Classifies the error of a connection to `server` that could not be opened.
pub(super) fn classify_connect(server: &str, error: Error) -> DataError {
    match error {
        Error::Server(error) => by_code(server, &error),
        // The driver's message may quote the password.
        Error::Url(_) => DataError::new(ErrorKind::BadUrl, "invalid database URL"),
        Error::Io(IoError::Io(error)) => DataError::refused(server, &error),
        _ => DataError::new(ErrorKind::Refused, format_args!("{server}: {error}")),
    }
}

/// Classifies an error of Diesel by its text: Diesel does not keep MySQL's error code. The connection counts as unusable
/// after each of these errors.
pub(super) fn classify_model(error: DieselError) -> DataError {
    let text = error.to_string();
    let kind = match &error {
        // Texts of the driver itself, which no server sends.
        _ if text.starts_with("Input/output error") || text.starts_with("Driver error") => return lost(&text),
        _ if text.contains("max_statement_time") || text.contains("maximum statement execution time") => {
            ErrorKind::TimedOut
        }
        _ if text.contains("Lock wait timeout") => ErrorKind::TimedOut,
        _ if text.contains("Deadlock found") || text.contains("read-only") => ErrorKind::Conflict,
        _ if text.contains("shutdown") || text.contains("killed") => return lost(&text),
        _ if text.contains("doesn't exist") => ErrorKind::MissingTable,
        _ => ErrorKind::Other,
    };
    DataError::new(kind, format_args!("MySQL: {text}"))
}

/// Classifies the error of a connection that the model could not take over.
pub(super) fn classify_model_connect(error: &ConnectionError) -> DataError {
    lost(error)
}

fn by_code(server: &str, error: &ServerError) -> DataError {
    let text = format!("{server}: {}", error.message);
    let kind = match error.code {
        1044 | 1045 | 1142 | 1698 => ErrorKind::Denied,
        1049 => ErrorKind::MissingDatabase,
        1146 => ErrorKind::MissingTable,
        1969 | 3024 | 1205 => ErrorKind::TimedOut,
        // A deadlock: the transaction is rolled back, and the connection stays open.
        1213 => ErrorKind::Conflict,
        // A server that accepts no writes any more: a new connection may lead to one that does.
        1290 | 1836 => return DataError::new(ErrorKind::Conflict, text),
        1040 | 1203 | 1226 => return DataError::server_exhausted(text),
        // The server shuts down, or an administrator has ended the connection.
        1053 | 1077 | 1079 | 1152 | 1184 | 1317 | 1927 => return DataError::new(ErrorKind::Lost, text),
        _ => ErrorKind::Other,
    };
    DataError::new(kind, text).with_usable_connection()
}

fn lost(error: &dyn std::fmt::Display) -> DataError {
    DataError::new(ErrorKind::Lost, format_args!("the connection to MySQL was closed: {error}"))
}
