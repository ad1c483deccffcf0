//! Errors of Redis and of its client library, by kind.

use crate::error::{DataError, ErrorKind};
use redis::{RedisError, ServerError};

/// Classifies the error of a command.
pub(super) fn classify(error: RedisError) -> DataError {
    classify_of("Redis", error)
}

/// Classifies the error of the handshake with `server`.
pub(super) fn classify_handshake(server: &str, error: RedisError) -> DataError {
    if error.is_io_error() {
        let text = format_args!("{server} closed a new connection, possibly because of too many clients: {error}");
        return DataError::new(ErrorKind::Refused, text);
    }
    classify_of(server, error)
}

fn classify_of(server: &str, error: RedisError) -> DataError {
    if error.is_io_error() {
        return DataError::new(ErrorKind::Lost, format_args!("the connection to Redis was closed: {error}"));
    }
    // The text of a parse error has several lines.
    let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    if error.kind() == redis::ErrorKind::Parse {
        return DataError::new(ErrorKind::Other, format_args!("the server is not Redis: {text}"));
    }
    let error = error.into_server_errors();
    match error.as_deref().and_then(<[_]>::first) {
        Some((_, error)) => by_code(server, error),
        None => DataError::new(ErrorKind::Other, format_args!("{server}: {text}")),
    }
}

fn by_code(server: &str, error: &ServerError) -> DataError {
    let (code, details) = (error.code(), error.details().unwrap_or_default());
    let text = format!("{server}: {code} {details}");
    let kind = match code {
        "OOM" => return DataError::server_exhausted(text).with_usable_connection(),
        "ERR" if details.contains("max number of clients") => return DataError::server_exhausted(text),
        "ERR" if details.contains("DB index") => ErrorKind::MissingDatabase,
        "ERR" if details.contains("AUTH") => ErrorKind::Denied,
        "WRONGPASS" | "NOAUTH" | "NOPERM" => ErrorKind::Denied,
        // The server starts up, or waits for another server.
        "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" => ErrorKind::Refused,
        // Another client's script runs for long.
        "BUSY" => ErrorKind::TimedOut,
        _ => ErrorKind::Other,
    };
    DataError::new(kind, text).with_usable_connection()
}
