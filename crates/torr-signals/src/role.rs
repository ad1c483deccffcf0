//! The role of a peer, by its processes' names or its port.

use serde::{Deserialize, Serialize};

/// The role of a peer, guessed from its processes' names or its port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A database server.
    Database,
    /// A cache, such as Redis or memcached.
    Cache,
    /// Any other service, such as another HTTP service or a queue.
    #[default]
    Other,
}

/// Prefixes of the names of database servers; the kernel truncates names to 15 characters.
const DATABASES: [&str; 17] = [
    "postgres",
    "postmaster",
    "mysqld",
    "mariadbd",
    "mongod",
    "mongos",
    "sqlservr",
    "oracle",
    "clickhouse",
    "cockroach",
    "influxd",
    "pgbouncer",
    "pgcat",
    "odyssey",
    "proxysql",
    "maxscale",
    "tidb-server",
];
const CACHES: [&str; 7] =
    ["redis-server", "valkey-server", "memcached", "keydb-server", "dragonfly", "varnishd", "kvrocks"];
const DATABASE_PORTS: [u16; 11] = [5432, 3306, 33060, 27017, 27018, 1433, 1521, 6432, 9042, 26257, 8123];
const CACHE_PORTS: [u16; 3] = [6379, 6380, 11211];

/// Prefixes of the names of poolers, which stand before a database and are called one.
const POOLERS: [&str; 5] = ["pgbouncer", "pgcat", "odyssey", "proxysql", "maxscale"];

/// Returns whether a program of this name may forward requests to another service: all but databases and caches themselves.
pub(super) fn forwards(name: Option<String>) -> bool {
    let Some(name) = name else { return false };
    let is_one = |names: &[&str]| names.iter().any(|prefix| name.starts_with(prefix));
    is_one(&POOLERS) || !is_one(&DATABASES) && !is_one(&CACHES)
}

/// Returns the role by the names of the peer's processes, else by its address.
pub(super) fn role<'a>(names: impl Iterator<Item = &'a str>, address: &str) -> Role {
    for name in names {
        if DATABASES.iter().any(|database| name.starts_with(database)) {
            return Role::Database;
        }
        if CACHES.iter().any(|cache| name.starts_with(cache)) {
            return Role::Cache;
        }
    }
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    match port {
        // A program of another name at a database's port may be the port proxy of a container.
        Some(port) if DATABASE_PORTS.contains(&port) => Role::Database,
        Some(port) if CACHE_PORTS.contains(&port) => Role::Cache,
        _ => by_path(address),
    }
}

/// Returns the role by the name of a Unix socket.
fn by_path(path: &str) -> Role {
    let name = path.rsplit('/').next().unwrap_or_default();
    if name.starts_with(".s.PGSQL.")
        || name.starts_with("mysql")
        || name.starts_with("mariadb")
        || name.starts_with("mongodb-")
    {
        Role::Database
    } else if ["redis", "valkey", "memcached"].iter().any(|cache| name.starts_with(cache)) {
        Role::Cache
    } else {
        Role::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pooler_forwards_and_a_database_does_not() {
        let forwards = |name: &str| super::forwards(Some(name.into()));
        assert!(forwards("pgbouncer") && forwards("php-fpm8.2") && !forwards("postgres") && !forwards("redis-server"));
        assert!(!super::forwards(None), "it has ended");
    }

    #[test]
    fn names_precede_ports() {
        let named = |name, address| role(std::iter::once(name), address);
        let unnamed = |address| role(std::iter::empty(), address);
        assert_eq!(named("postgres", "127.0.0.1:9999"), Role::Database);
        assert_eq!(named("redis-server", "[::1]:5432"), Role::Cache);
        assert_eq!(named("docker-proxy", "127.0.0.1:5432"), Role::Database);
        assert_eq!(named("nginx", "127.0.0.1:8080"), Role::Other);
        assert_eq!(unnamed("10.0.0.7:3306"), Role::Database);
        assert_eq!(unnamed("[fd00::7]:11211"), Role::Cache);
        assert_eq!(unnamed("10.0.0.7:80"), Role::Other);
        assert_eq!(unnamed("/run/mysqld/mysqld.sock"), Role::Database);
        assert_eq!(unnamed("/run/postgresql/.s.PGSQL.5432"), Role::Database);
        assert_eq!(unnamed("/run/valkey.sock"), Role::Cache);
    }
}
