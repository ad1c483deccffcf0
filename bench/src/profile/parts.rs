//! The parts that a service's CPU time is sorted into, and what belongs to each: one table, in the order of the plot.

use serde::Serialize;

/// What a service's CPU time goes into.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Reading requests, finding their handlers, writing responses, counting them.
    Http,
    /// The event loop. It serves HTTP and the driver alike, so it is a part of its own.
    Tokio,
    /// The database that is in the service, and its locks.
    Sqlite,
    /// What speaks to a database, and what that stands on.
    Driver,
    /// The pool: it hands out connections and limits the wait for one.
    Pool,
    /// Making SQL out of a statement.
    Builder,
    /// Making SQL out of types, and types out of rows.
    Model,
    /// Writing the row as JSON.
    Json,
    /// Reserving, freeing and copying.
    Memory,
    /// The handlers, and all that no part above has.
    Rest,
    /// System calls and what makes them, interrupts, scheduling; and the clock, which the kernel puts into each process.
    Kernel,
}

/// One part: how it is shown, and how it is known.
pub struct Row {
    /// The part.
    pub part: Part,
    /// As tables and the legend have it.
    pub name: &'static str,
    /// Its colour in the plot, as red, green and blue.
    pub colour: [u8; 3],
    /// Crates and modules whose functions belong to it. The longest that fits counts.
    pub paths: &'static [&'static str],
}

const fn row(part: Part, name: &'static str, colour: [u8; 3], paths: &'static [&'static str]) -> Row {
    Row { part, name, colour, paths }
}

/// All parts; the kernel is the last, since it is the largest: so the others stand below each other in the plot. Those whose functions are not Rust's have their rules in `naming`. The colours are after Paul Tol's "muted" ones, which
/// can be distinguished by people who see fewer colours; its indigo is lighter here, for dark pages.
pub static PARTS: [Row; 11] = [
    row(
        Part::Http,
        "HTTP",
        [0x88, 0xcc, 0xee],
        &[
            "torr_serve",
            "torr_wire",
            "torr_net",
            "torr_gauge",
            "http",
            "http_body",
            "http_body_util",
            "httparse",
            "httpdate",
            "hyper",
            "matchit",
            "memchr",
            "percent_encoding",
            "rustix",
            "socket2",
        ],
    ),
    row(Part::Tokio, "tokio", [0x44, 0x77, 0xaa], &["tokio", "mio", "slab"]),
    row(Part::Sqlite, "SQLite", [0x11, 0x77, 0x33], &[]),
    row(
        Part::Driver,
        "driver",
        [0xdd, 0xcc, 0x77],
        &[
            "rusqlite",
            "libsqlite3_sys",
            "hashlink",
            "tokio_postgres",
            "postgres_protocol",
            "postgres_types",
            "mysql_async",
            "mysql_common",
            "btoi",
            "byteorder",
            "bytes",
            "crossbeam_queue",
            "fallible_iterator",
            "futures_channel",
            "futures_core",
            "futures_util",
            "keyed_priority_queue",
            "lru",
            "parking_lot",
            "parking_lot_core",
            "tokio_util",
        ],
    ),
    row(
        Part::Pool,
        "pool, limits",
        [0xcc, 0x66, 0x77],
        &["torr_data", "deadpool", "tokio::time", "tokio::runtime::time"],
    ),
    row(Part::Builder, "builder", [0x44, 0xaa, 0x99], &["sea_query", "torr_data::builder"]),
    row(Part::Model, "model", [0x88, 0x22, 0x55], &["diesel", "diesel_async", "downcast_rs"]),
    row(Part::Json, "JSON", [0x99, 0x99, 0x33], &["serde", "serde_core", "serde_json", "itoa"]),
    row(Part::Memory, "memory", [0xaa, 0x44, 0x99], &["alloc", "__rustc"]),
    row(Part::Rest, "the rest", [0xbb, 0xbb, 0xbb], &[]),
    row(Part::Kernel, "kernel", [0x77, 0x77, 0x77], &[]),
];

/// The part that a crate or module belongs to; `path` starts with its name and may go on.
pub fn of_path(path: &str) -> Option<Part> {
    let fits = |known: &&&str| {
        let after = path.strip_prefix(**known);
        after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let all = PARTS.iter().flat_map(|row| row.paths.iter().filter(fits).map(|known| (known.len(), row.part)));
    all.max_by_key(|(length, _)| *length).map(|(_, part)| part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_parts_in_their_order() {
        assert!(PARTS.iter().enumerate().all(|(n, row)| row.part as usize == n));
    }

    #[test]
    fn the_longest_name_that_fits_whole_counts() {
        assert_eq!(of_path("tokio::runtime::task::raw::poll"), Some(Part::Tokio));
        assert_eq!(of_path("tokio::time::timeout::timeout"), Some(Part::Pool));
        assert_eq!(of_path("tokio_postgres::query::query"), Some(Part::Driver));
        assert_eq!(of_path("torr_data::builder::item"), Some(Part::Builder));
        assert_eq!(of_path("torr_data::network::NetworkConnections<C>::item"), Some(Part::Pool));
        assert_eq!(of_path("torr::service::data::item"), None);
    }
}
