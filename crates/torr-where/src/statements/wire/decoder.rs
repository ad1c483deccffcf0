//! The decoder of one connection, whatever its protocol.

use super::event::Fault;
use super::sink::Sink;
use super::{mysql, postgres, redis};
use crate::statements::database::Database;

/// The decoder of one connection.
#[derive(Debug)]
pub(crate) enum Decoder {
    /// PostgreSQL.
    Postgres(postgres::Postgres),
    /// MySQL and MariaDB.
    MySql(mysql::MySql),
    /// Redis.
    Redis(redis::Redis),
}

impl Decoder {
    /// Makes the decoder of a connection, which is seen from its start or from some time on.
    pub(crate) fn new(database: Database, is_from_start: bool) -> Self {
        match database {
            Database::Postgres => Self::Postgres(postgres::Postgres::new(is_from_start)),
            Database::MySql => Self::MySql(mysql::MySql::new(is_from_start)),
            Database::Redis => Self::Redis(redis::Redis::new(is_from_start)),
        }
    }

    /// Takes the bytes of a segment of the client, sent at this time in nanoseconds.
    ///
    /// # Errors
    /// If decoding cannot go on. [`Decoder::begin_again`] must be called before further bytes.
    pub(crate) fn client(&mut self, bytes: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        match self {
            Self::Postgres(decoder) => decoder.client(bytes, at, sink),
            Self::MySql(decoder) => decoder.client(bytes, at, sink),
            Self::Redis(decoder) => decoder.client(bytes, at, sink),
        }
    }

    /// Takes the bytes of a segment of the server.
    ///
    /// # Errors
    /// As [`Decoder::client`].
    pub(crate) fn server(&mut self, bytes: &[u8], at: u64, sink: &mut Sink<'_>) -> Result<(), Fault> {
        match self {
            Self::Postgres(decoder) => decoder.server(bytes, at, sink),
            Self::MySql(decoder) => decoder.server(bytes, at, sink),
            Self::Redis(decoder) => decoder.server(bytes, at, sink),
        }
    }

    /// Forgets what is in flight: bytes are missing, or did not match.
    pub(crate) fn begin_again(&mut self) {
        match self {
            Self::Postgres(decoder) => *decoder = postgres::Postgres::new(false),
            Self::MySql(decoder) => decoder.begin_again(),
            Self::Redis(decoder) => *decoder = redis::Redis::new(false),
        }
    }
}
