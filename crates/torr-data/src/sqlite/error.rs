//! Errors of SQLite, from its driver and from Diesel, by kind.

use crate::error::{DataError, ErrorKind};
use diesel::result::Error as DieselError;
use rusqlite::ErrorCode;

pub(super) fn classify(error: &rusqlite::Error) -> DataError {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::TimedOut,
        Some(ErrorCode::CannotOpen) => ErrorKind::Refused,
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => ErrorKind::Denied,
        _ => by_message(&error.to_string()),
    };
    DataError::new(kind, format_args!("SQLite: {error}"))
}

/// Classifies an error of Diesel by its text: Diesel does not keep SQLite's error code.
pub(super) fn classify_model(error: DieselError) -> DataError {
    DataError::new(by_message(&error.to_string()), format_args!("SQLite: {error}"))
}

fn by_message(message: &str) -> ErrorKind {
    if message.contains("no such table") {
        ErrorKind::MissingTable
    } else if message.contains("is locked") {
        ErrorKind::TimedOut
    } else {
        ErrorKind::Other
    }
}
