//! The servers: how each is started, all with one worker and without a log.

use std::path::Path;

use super::arguments::words;
use super::{FLOOR, NGINX, TORR, nginx};
use crate::scenario::Scenario;

/// How a server is to stand.
pub struct Stand<'a> {
    /// Port on the loopback.
    pub port: u16,
    /// What the load will be.
    pub scenario: Scenario,
    /// Folder for its files.
    pub folder: &'a Path,
}

/// A server.
pub struct Service {
    /// Name of its tool.
    pub name: &'static str,
    /// Path of the page.
    pub path: &'static str,
    /// It takes part in the pipelined scenario of its side.
    pub pipelined: bool,
    /// Its arguments; files that it needs are written.
    pub arguments: fn(&Stand<'_>) -> std::io::Result<Vec<String>>,
}

/// The servers, in the order of the first round.
pub static SERVICES: [Service; 3] = [
    Service { name: FLOOR, path: "/", pipelined: false, arguments: floor_server },
    Service { name: TORR, path: "/", pipelined: true, arguments: torr_serve },
    Service { name: NGINX, path: "/", pipelined: true, arguments: nginx::arguments },
];

/// The server of this name.
pub fn service(name: &str) -> &'static Service {
    SERVICES.iter().find(|service| service.name == name).expect("a name from the table")
}

fn floor_server(stand: &Stand<'_>) -> std::io::Result<Vec<String>> {
    let close = if stand.scenario.style.close() { "close" } else { "" };
    Ok(words(&format!("floor-server {} {close}", stand.port)))
}

fn torr_serve(stand: &Stand<'_>) -> std::io::Result<Vec<String>> {
    Ok(words(&format!("serve --workers 1 --listen 127.0.0.1:{}", stand.port)))
}
