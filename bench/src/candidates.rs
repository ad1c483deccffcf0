//! The candidates: the programs that take part, as load generators, as servers or as both.

use crate::built::{Build, By};

pub mod arguments;
pub mod certificate;
pub mod instruments;
pub mod load_settings;
pub mod loads;
pub mod nginx;
pub mod server_settings;
pub mod servers;
pub mod tally;

/// Name of the floor among the candidates.
pub const FLOOR: &str = "floor";
/// Name of the subject among the candidates.
pub const TORR: &str = "torr";
/// Name of the server that others are compared with in production.
pub const NGINX: &str = "nginx";
/// Name of the load generator that also serves as an instrument: it pipelines.
pub const WRK: &str = "wrk";
/// Name of the load generator that TLS is compared with besides.
pub const OHA: &str = "oha";
/// Name of the load generator that HTTP/2 is compared with.
pub const H2LOAD: &str = "h2load";
/// Name of the subject's closed loop, where its open loop takes part under the subject's name.
pub const CLOSED_LOOP: &str = "torr closed loop";

/// Name of the subject's open loop where the program's own clock tells when responses arrived, and each request leaves alone.
pub const USER_CLOCK: &str = "torr, its own clock";
/// Name of the load generator that waits through io_uring.
pub const GCANNON: &str = "gcannon";

/// Name of the subject's engine with an axum router.
pub const ROUTER: &str = "torr router";
/// Name of the same router as axum serves it.
pub const AXUM: &str = "axum::serve";
/// Name of the server that is written in Rust too, with a router of its own.
pub const ACTIX: &str = "actix-web";
/// Name of the subject with a handler that may wait.
pub const ASYNC: &str = "torr async";
/// Name of the same where the handler is pending once.
pub const ASYNC_PENDING: &str = "torr async, pending";
/// Name of the router's handler that is pending once.
pub const ROUTER_PENDING: &str = "torr router, pending";
/// Name of the subject's JSON.
pub const JSON: &str = "torr /json";
/// Name of the router's JSON.
pub const ROUTER_JSON: &str = "torr router /json";

/// Name of sqlx, whose program is SeaORM's too.
pub const SQLX: &str = "sqlx";
/// Name of the Go framework that is measured with `database/sql`.
pub const GIN: &str = "gin";
/// Name of PHP.
pub const PHP: &str = "php";
/// Name of MariaDB's server.
pub const MARIADB: &str = "mariadbd";
/// Name of PostgreSQL's server.
pub const POSTGRES: &str = "postgres";

/// Name of the profiler of Linux.
pub const PERF: &str = "perf";

/// A program that takes part.
pub struct Tool {
    /// Name in tables, and of the program.
    pub name: &'static str,
    /// Arguments that make it tell its version; none if it cannot.
    pub version: &'static [&'static str],
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a program comes from.
#[derive(Clone, Copy)]
pub enum Origin {
    /// A Debian package that a run must have.
    Package(&'static str),
    /// Wherever it is on the PATH; if it is nowhere, it is left out.
    Path,
    /// It is built for the run.
    Built(Build),
}

const fn tool(name: &'static str, version: &'static [&'static str], origin: Origin) -> Tool {
    Tool { name, version, origin }
}

const fn built(
    name: &'static str,
    folder: &'static str,
    package: &'static str,
    tells: &'static [&'static str],
) -> Tool {
    tool(name, &[], Origin::Built(Build { by: By::Cargo, folder, package, tells }))
}

/// What gin's program is about.
const GIN_TELLS: &[&str] = &["github.com/gin-gonic/gin", "github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql"];
const GIN_BUILD: Build =
    Build { by: By::Go, folder: "crates/torr-lab/shipped/subjects/gin", package: "gin-peer", tells: GIN_TELLS };

/// All that may take part or look on, apart from the floor, which is this program; and the databases, which do in their own way.
pub static TOOLS: [Tool; 17] = [
    Tool { version: &["--version"], ..built(TORR, "", "torr", &[]) },
    built("router", "", "torr-bench-router", &["axum"]),
    built("axum", "", "torr-bench-router", &["axum"]),
    built(ACTIX, "crates/torr-lab/shipped/subjects/actix", "actix-peer", &["actix-web"]),
    built(SQLX, "crates/torr-lab/shipped/subjects/axum", "sqlx-peer", &["axum", "sqlx", "sea-orm"]),
    tool(GIN, &[], Origin::Built(GIN_BUILD)),
    tool(PHP, &["--version"], Origin::Package("php-cli php-mysql php-pgsql")),
    tool(MARIADB, &["--version"], Origin::Package("mariadb-server-core mariadb-client-core")),
    tool(POSTGRES, &["--version"], Origin::Package("postgresql")),
    tool(PERF, &["--version"], Origin::Package("linux-perf")),
    tool(WRK, &["-v"], Origin::Package("wrk")),
    tool("ab", &["-V"], Origin::Package("apache2-utils")),
    tool(NGINX, &["-v"], Origin::Package("nginx-light")),
    tool(OHA, &["--version"], Origin::Path),
    tool(H2LOAD, &["--version"], Origin::Package("nghttp2-client")),
    tool("hey", &[], Origin::Path),
    tool(GCANNON, &[], Origin::Path),
];

/// Is it a candidate that the run is about, one of our own programs?
pub fn is_ours(name: &str) -> bool {
    name.split([' ', ',']).next() == Some(TORR)
}
