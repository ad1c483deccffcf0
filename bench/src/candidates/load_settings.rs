//! The load of one turn.

use std::path::Path;

use crate::scenario::Style;

/// The settings from which a load generator's command line is made.
pub struct LoadSettings<'a> {
    /// Port of the server on the loopback.
    pub port: u16,
    /// Path to ask for.
    pub path: &'a str,
    /// Connections open at a time.
    pub connections: u32,
    /// Length of the turn.
    pub seconds: f64,
    /// How connections are used.
    pub style: Style,
    /// Requests per second of an open loop.
    pub rate: u64,
    /// Folder for its files.
    pub folder: &'a Path,
}
