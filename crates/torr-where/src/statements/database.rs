//! The databases whose statements are read.

use serde::{Deserialize, Serialize};

/// A database whose protocol and views are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
    /// Redis, Valkey and others with its protocol.
    Redis,
}

impl Database {
    /// Returns the database with this port or whose server's processes have one of these names.
    pub fn guess<'n>(port: u16, names: impl IntoIterator<Item = &'n str>) -> Option<Self> {
        let by_name = names.into_iter().find_map(|name| {
            let is = |programs: &[&str]| programs.iter().any(|program| name.starts_with(program));
            if is(&["postgres", "postmaster", "pgbouncer"]) {
                Some(Self::Postgres)
            } else if is(&["mysqld", "mariadbd", "proxysql"]) {
                Some(Self::MySql)
            } else if is(&["redis-server", "valkey-server", "keydb-server", "dragonfly"]) {
                Some(Self::Redis)
            } else {
                None
            }
        });
        by_name.or(match port {
            5432 | 6432 => Some(Self::Postgres),
            3306 | 6033 => Some(Self::MySql),
            6379 => Some(Self::Redis),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_precede_ports() {
        assert_eq!(Database::guess(5432, ["mariadbd"]), Some(Database::MySql));
        assert_eq!(Database::guess(6379, ["docker-proxy"]), Some(Database::Redis));
        assert_eq!(Database::guess(4711, ["postgres: torr"]), Some(Database::Postgres));
        assert_eq!(Database::guess(80, ["nginx"]), None);
    }
}
