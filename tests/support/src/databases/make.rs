//! What differs between the makes of servers.

use super::mariadb::MariaDb;
use super::postgres::Postgres;
use super::program::Program;
use super::redis::Redis;

/// Whose server it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Make {
    /// MariaDB.
    MariaDb,
    /// PostgreSQL.
    Postgres,
    /// Redis, with a password and no user, which keeps nothing when it ends.
    Redis,
}

impl Make {
    pub(crate) fn program(self) -> &'static dyn Program {
        match self {
            Self::MariaDb => &MariaDb,
            Self::Postgres => &Postgres,
            Self::Redis => &Redis,
        }
    }
}
