//! The candidates: the programs that take part, as load generators, as servers or as both.

use crate::built::Build;

pub mod arguments;
pub mod certificate;
pub mod loads;
pub mod nginx;
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

const fn router(name: &'static str) -> Tool {
    let build = Build { folder: "", package: "torr-bench-router", tells: Some("axum") };
    Tool { name, version: &[], origin: Origin::Built(build) }
}

/// All that may take part, apart from the floor, which is this program.
pub static TOOLS: [Tool; 10] = [
    tool(TORR, &["--version"], Origin::Built(Build { folder: "", package: "torr", tells: None })),
    router("router"),
    router("axum"),
    tool(
        ACTIX,
        &[],
        Origin::Built(Build { folder: "bench/peers/actix", package: "actix-peer", tells: Some("actix-web") }),
    ),
    tool(WRK, &["-v"], Origin::Package("wrk")),
    tool("ab", &["-V"], Origin::Package("apache2-utils")),
    tool(NGINX, &["-v"], Origin::Package("nginx-light")),
    tool(OHA, &["--version"], Origin::Path),
    tool(H2LOAD, &["--version"], Origin::Package("nghttp2-client")),
    tool("hey", &[], Origin::Path),
];

/// Is it a candidate that the run is about, one of our own programs?
pub fn is_ours(name: &str) -> bool {
    name.split([' ', ',']).next() == Some(TORR)
}
