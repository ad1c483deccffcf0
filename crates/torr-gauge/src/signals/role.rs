//! What a peer seems to be, by its processes' names or its port.

use super::Role;

/// Names, or how they begin, of programs; the kernel cuts names after 15 characters.
const DATABASES: [&str; 16] = [
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
    "tidb-server",
];
const CACHES: [&str; 7] =
    ["redis-server", "valkey-server", "memcached", "keydb-server", "dragonfly", "varnishd", "kvrocks"];
const DATABASE_PORTS: [u16; 11] = [5432, 3306, 33060, 27017, 27018, 1433, 1521, 6432, 9042, 26257, 8123];
const CACHE_PORTS: [u16; 3] = [6379, 6380, 11211];

/// By the names of the processes behind it, where they are known, and else by its address.
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
        // A program with another name stands at a database's port: it could be a proxy of a container's.
        Some(port) if DATABASE_PORTS.contains(&port) => Role::Database,
        Some(port) if CACHE_PORTS.contains(&port) => Role::Cache,
        _ => by_path(address),
    }
}

/// What databases call their Unix sockets.
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
    fn a_name_tells_more_than_a_port_and_a_port_more_than_nothing() {
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
