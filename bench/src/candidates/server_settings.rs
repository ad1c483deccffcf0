//! The server of one scenario.

use std::path::Path;

use crate::scenario::Scenario;

/// The settings from which a server's command line and files are made.
pub struct ServerSettings<'a> {
    /// Port on the loopback.
    pub port: u16,
    /// What the load will be.
    pub scenario: Scenario,
    /// Folder for its files.
    pub folder: &'a Path,
}
