//! Who takes part: the ways of `torr serve`, and its peers, each with as many connections to the database.

use super::scenario::{Group, Operation, Scenario};
use crate::candidates::arguments::words;
use crate::candidates::{GIN, PHP, SQLX, TORR};

/// Connections to the database that each service has for one access method.
pub const POOL: u32 = 8;

/// Name of the page that needs no database.
pub const HELLO: &str = "torr hello";
/// Name of the subject's raw driver.
pub const RAW: &str = "torr raw";
/// Name of the subject's query builder.
pub const BUILDER: &str = "torr builder";
/// Name of the subject's model.
pub const MODEL: &str = "torr model";
/// Name of the subject's raw driver on one pipelined connection.
pub const RAW_PIPELINED: &str = "torr raw, pipelined";
/// Name of the subject's query builder on one pipelined connection.
pub const BUILDER_PIPELINED: &str = "torr builder, pipelined";
/// Name of the subject's model on one pipelined connection.
pub const MODEL_PIPELINED: &str = "torr model, pipelined";
/// Name of the popular ORM, on axum.
pub const SEAORM: &str = "SeaORM";
/// Name of the one worker whose driver blocks it.
pub const BLOCKING: &str = "blocking, 1 worker";

/// A candidate.
pub struct Candidate {
    /// Name in tables.
    pub name: &'static str,
    /// Name of its tool.
    pub tool: &'static str,
    /// The name of the server: candidates of one server share a process.
    pub server: &'static str,
    /// The server's arguments beside address and database.
    pub own_arguments: &'static str,
    /// Its way in the path of an operation; none is the page that needs no database.
    pub way: Option<&'static str>,
    /// The groups that it takes part in.
    groups: &'static [Group],
}

const ALL: &[Group] =
    &[Group::SqliteMemory, Group::SqliteFile, Group::Mariadb, Group::Postgres, Group::PostgresPipelined];
const LOCAL: &[Group] = &[Group::SqliteMemory, Group::SqliteFile];
const PIPELINED: &[Group] = &[Group::PostgresPipelined];
const WORKERS: &[Group] = &[Group::Workers];
/// A database that other processes can reach.
const SHARED: &[Group] = &[Group::SqliteFile, Group::Mariadb, Group::Postgres];
const SERVED: &[Group] = &[Group::Mariadb, Group::Postgres];

const fn torr(name: &'static str, way: Option<&'static str>, groups: &'static [Group]) -> Candidate {
    Candidate { name, tool: TORR, server: TORR, own_arguments: "--workers 1", way, groups }
}

const fn pipelined(name: &'static str, way: &'static str) -> Candidate {
    let own_arguments = "--workers 1 --db-pipelined true";
    Candidate { server: "torr pipelined", own_arguments, ..torr(name, Some(way), PIPELINED) }
}

const fn workers(name: &'static str, own_arguments: &'static str) -> Candidate {
    Candidate { server: name, own_arguments, ..torr(name, Some("raw"), WORKERS) }
}

const fn peer(name: &'static str, tool: &'static str, way: &'static str, groups: &'static [Group]) -> Candidate {
    Candidate { name, tool, server: tool, own_arguments: "", way: Some(way), groups }
}

/// The candidates, in the order of the first round. The first of a group makes the tables.
pub static CANDIDATES: [Candidate; 19] = [
    torr(HELLO, None, LOCAL),
    torr(RAW, Some("raw"), ALL),
    torr(BUILDER, Some("builder"), ALL),
    torr(MODEL, Some("model"), ALL),
    pipelined(RAW_PIPELINED, "raw"),
    pipelined(BUILDER_PIPELINED, "builder"),
    pipelined(MODEL_PIPELINED, "model"),
    peer(SQLX, SQLX, "raw", SHARED),
    peer(SEAORM, SQLX, "model", SHARED),
    peer(GIN, GIN, "raw", SERVED),
    peer(PHP, PHP, "raw", SERVED),
    workers(BLOCKING, "--workers 1 --db-mode blocking"),
    workers("blocking, 2 workers", "--workers 2 --db-mode blocking"),
    workers("blocking, 4 workers", "--workers 4 --db-mode blocking"),
    workers("blocking, 8 workers", "--workers 8 --db-mode blocking"),
    workers("blocking, 16 workers", "--workers 16 --db-mode blocking"),
    workers("blocking, 32 workers", "--workers 32 --db-mode blocking"),
    workers("async, 1 worker", "--workers 1"),
    workers("async, 2 workers", "--workers 2"),
];

impl Candidate {
    /// Takes part in this scenario, if it is here. Peers have no pages, and the page without a database is there for one row.
    pub fn takes_part(&self, scenario: Scenario) -> bool {
        let selected = match scenario.operation {
            Operation::Item => true,
            Operation::Fortunes => self.tool == TORR && self.way.is_some(),
            Operation::Queries20 | Operation::Updates20 => self.way.is_some(),
        };
        selected && self.groups.contains(&scenario.group)
    }

    /// The requested path.
    pub fn path(&self, operation: Operation) -> String {
        self.way.map_or("/".into(), |way| operation.path(way))
    }

    /// The server's arguments; `peers` is the folder of PHP's program.
    pub fn arguments(&self, port: u16, url: &str, peers: &str) -> Vec<String> {
        let address = format!("127.0.0.1:{port}");
        match self.tool {
            TORR => words(&format!("serve --listen {address} {} --db-pool-size {POOL} --database", self.own_arguments)),
            // On the command line, PHP keeps and compiles nothing by default.
            PHP => words(&format!(
                "-d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing {peers}/php/server.php \
                 {address}"
            )),
            _ => vec![address],
        }
        .into_iter()
        .chain([url.to_owned()])
        .chain((self.tool != TORR).then(|| POOL.to_string()))
        .collect()
    }
}

/// The candidate of this name.
pub fn candidate(name: &str) -> &'static Candidate {
    CANDIDATES.iter().find(|candidate| candidate.name == name).expect("a name from the table")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_the_same_database_and_pool() {
        let own_arguments = |name| candidate(name).arguments(9, "postgres://u@h/d", "peers").join(" ");
        assert_eq!(
            own_arguments(RAW_PIPELINED),
            "serve --listen 127.0.0.1:9 --workers 1 --db-pipelined true --db-pool-size 8 --database postgres://u@h/d"
        );
        assert_eq!(own_arguments(SEAORM), "127.0.0.1:9 postgres://u@h/d 8");
        assert!(own_arguments(PHP).ends_with(" peers/php/server.php 127.0.0.1:9 postgres://u@h/d 8"));
    }

    #[test]
    fn candidates_of_one_server_start_it_alike() {
        for (n, one) in CANDIDATES.iter().enumerate() {
            assert!(CANDIDATES[n + 1..].iter().all(|other| one.name != other.name), "{}", one.name);
            for other in CANDIDATES.iter().filter(|other| other.server == one.server) {
                assert_eq!(
                    (one.tool, one.own_arguments),
                    (other.tool, other.own_arguments),
                    "{} and {}",
                    one.name,
                    other.name
                );
            }
        }
    }

    #[test]
    fn the_tables_are_made_by_the_first_candidate() {
        for scenario in super::super::scenario::all(&[], &[]) {
            let first = CANDIDATES.iter().find(|candidate| candidate.takes_part(scenario));
            assert_eq!(first.map(|first| first.tool), Some(TORR), "{scenario}");
        }
    }
}
