//! The servers: how each is started, all with one worker and without a log.

use std::fs;
use std::path::Path;

use super::loads::words;
use super::{FLOOR, NGINX, TORR};
use crate::floor::PAGE;
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
    /// It takes part in the pipelined scenario.
    pub pipelined: bool,
    /// Its arguments; files that it needs are written.
    pub arguments: fn(&Stand<'_>) -> std::io::Result<Vec<String>>,
}

/// The servers, in the order of the first round.
pub static SERVICES: [Service; 3] = [
    Service { name: FLOOR, path: "/", pipelined: false, arguments: floor_server },
    Service { name: TORR, path: "/", pipelined: true, arguments: torr_serve },
    Service { name: NGINX, path: "/", pipelined: true, arguments: nginx },
];

/// The server of this name.
pub fn service(name: &str) -> &'static Service {
    SERVICES.iter().find(|service| service.name == name).expect("a name from the table")
}

fn floor_server(stand: &Stand<'_>) -> std::io::Result<Vec<String>> {
    let close = if stand.scenario.close() { "close" } else { "" };
    Ok(words(&format!("floor-server {} {close}", stand.port)))
}

fn torr_serve(stand: &Stand<'_>) -> std::io::Result<Vec<String>> {
    Ok(words(&format!("serve --workers 1 --listen 127.0.0.1:{}", stand.port)))
}

/// One nginx worker that logs nothing and never closes; every file it writes is in its own folder.
fn nginx(stand: &Stand<'_>) -> std::io::Result<Vec<String>> {
    let prefix = stand.folder.join("nginx");
    fs::create_dir_all(&prefix)?;
    let config = format!(
        r#"daemon off;
worker_processes 1;
worker_rlimit_nofile {files};
pid nginx.pid;
error_log error.log crit;
events {{ worker_connections {files}; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{
            default_type text/html;
            return 200 "{PAGE}";
        }}
    }}
}}
"#,
        files = stand.scenario.connections + 1000,
        port = stand.port,
    );
    fs::write(prefix.join("nginx.conf"), config)?;
    let prefix = prefix.to_string_lossy();
    Ok(["-p", &*prefix, "-c", "nginx.conf", "-e", "error.log"].map(str::to_owned).into())
}
