//! What Redis and its library say, sorted.

use crate::error::{DataError, ErrorKind};
use redis::{RedisError, ServerError};

/// What went wrong with a question.
pub(super) fn sorted(error: RedisError) -> DataError {
    if error.is_io_error() {
        return DataError::new(ErrorKind::Lost, format_args!("the connection to Redis has ended: {error}"));
    }
    // A parser says where it is in several lines.
    let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    if error.kind() == redis::ErrorKind::Parse {
        return DataError::new(ErrorKind::Other, format_args!("what answers is no Redis: {text}"));
    }
    let said = error.into_server_errors();
    match said.as_deref().and_then(<[_]>::first) {
        Some((_, said)) => by_code(said),
        None => DataError::new(ErrorKind::Other, format_args!("Redis: {text}")),
    }
}

/// There is no connection.
pub(super) fn refused(error: &std::io::Error) -> DataError {
    DataError::new(ErrorKind::Refused, format_args!("Redis cannot be connected to: {error}"))
}

/// What went wrong with the first words over a connection.
pub(super) fn sorted_greeting(error: RedisError) -> DataError {
    if error.is_io_error() {
        let text = format_args!("Redis has ended a new connection, as if it had too many clients: {error}");
        return DataError::new(ErrorKind::Refused, text);
    }
    sorted(error)
}

fn by_code(said: &ServerError) -> DataError {
    let (code, details) = (said.code(), said.details().unwrap_or_default());
    let text = format!("Redis: {code} {details}");
    let kind = match code {
        "OOM" => return DataError::full(text).on_sound_connection(),
        "ERR" if details.contains("max number of clients") => return DataError::full(text),
        "ERR" if details.contains("DB index") => ErrorKind::MissingDatabase,
        "ERR" if details.contains("AUTH") => ErrorKind::Denied,
        "WRONGPASS" | "NOAUTH" | "NOPERM" => ErrorKind::Denied,
        // It is starting up, or waits for another server.
        "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" => ErrorKind::Refused,
        // Somebody's script takes long.
        "BUSY" => ErrorKind::TimedOut,
        _ => ErrorKind::Other,
    };
    DataError::new(kind, text).on_sound_connection()
}
