//! The candidates: the programs that take part, as load generators, as servers or as both.

pub mod arguments;
pub mod loads;
pub mod nginx;
pub mod servers;
pub mod tally;

/// Name of the floor among the candidates.
pub const FLOOR: &str = "floor";
/// Name of the subject among the candidates.
pub const TORR: &str = "torr";
/// Name of the server that short connections and pipelining are compared with.
pub const NGINX: &str = "nginx";
/// Name of the load generator that also serves as an instrument: it pipelines.
pub const WRK: &str = "wrk";
/// Name of the load generator that TLS is compared with besides.
pub const OHA: &str = "oha";
/// Name of the load generator that HTTP/2 is compared with.
pub const H2LOAD: &str = "h2load";
/// Name of the subject's closed loop, where its open loop takes part under the subject's name.
pub const CLOSED_LOOP: &str = "torr closed loop";

/// A program that takes part.
pub struct Tool {
    /// Name in tables, and of the program.
    pub name: &'static str,
    /// Arguments that make it tell its version; none if it cannot.
    pub version: &'static [&'static str],
    /// Debian package of a tool that a run must have; others take part if they are there.
    pub package: Option<&'static str>,
}

const fn tool(name: &'static str, version: &'static [&'static str], package: Option<&'static str>) -> Tool {
    Tool { name, version, package }
}

/// All that may take part, apart from the floor, which is this program.
pub static TOOLS: [Tool; 7] = [
    tool(TORR, &["--version"], None),
    tool(WRK, &["-v"], Some("wrk")),
    tool("ab", &["-V"], Some("apache2-utils")),
    tool(NGINX, &["-v"], Some("nginx-light")),
    tool(OHA, &["--version"], None),
    tool(H2LOAD, &["--version"], Some("nghttp2-client")),
    tool("hey", &[], None),
];
