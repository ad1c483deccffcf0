//! Services with nothing wrong, and what may be called their ceiling.

use crate::subject::Subject;
use crate::ward::databases::Make;
use crate::ward::proxies::Nginx;
use torr_gauge::Factor::{Connections, Database, Generator, KeepAlive, Proxy, ServerCpu, SingleCore};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::healthy("healthy-torr", &[ServerCpu, Generator], |bed| Ok(bed.torr_serve(&[])? + "/")),
        Subject::healthy("healthy-torr-visitors", &[KeepAlive, ServerCpu, Generator], |bed| {
            Ok(bed.torr_serve(&[])? + "/")
        })
        .with(&["--no-keepalive"]),
        Subject::healthy("healthy-torr-sqlite", &[ServerCpu, Generator], |bed| Ok(bed.torr_serve(&[])? + "/db/raw")),
        Subject::healthy("healthy-sleeper", &[Connections], |bed| Ok(bed.torr_serve(&[])? + "/sleep/10")),
        Subject::healthy("healthy-nginx", &[ServerCpu, Generator], |bed| {
            bed.write("index.html", "<p>Hello, world!</p>")?;
            let server = format!("root {};", bed.folder().display());
            bed.nginx(&Nginx { workers: 2, server: &server, ..Nginx::default() })
        })
        .needs(&["nginx"]),
        Subject::healthy("healthy-node", &[SingleCore, ServerCpu], |bed| {
            bed.script("node", "server.js", include_str!("../../programs/server.js"), &["0"])
        })
        .needs(&["node"]),
        Subject::healthy("healthy-uvicorn", &[SingleCore, ServerCpu], |bed| bed.uvicorn("hello", &[]))
            .needs(&["uvicorn"]),
        Subject::healthy("healthy-gunicorn", &[ServerCpu], |bed| {
            bed.gunicorn("hello", &["--workers", "2", "--threads", "4", "--keep-alive", "30"])
        })
        .needs(&["gunicorn"]),
        // It never keeps a connection.
        Subject::healthy("healthy-php", &[ServerCpu, KeepAlive], |bed| bed.php("2", "<?php echo 'Hello, world!';"))
            .needs(&["php"]),
        // The proxy needs as much of the CPU as all the rest.
        Subject::healthy("healthy-nginx-proxy", &[ServerCpu, Generator, Proxy], |bed| {
            let server = bed.torr_serve(&[])?;
            let http = format!("upstream torr {{ server {}; keepalive 64; }}", server.trim_start_matches("http://"));
            let location = "proxy_pass http://torr; proxy_http_version 1.1; proxy_set_header Connection '';";
            bed.nginx(&Nginx { workers: 2, http: &http, location, ..Nginx::default() })
        })
        .needs(&["nginx"]),
        Subject::healthy("healthy-torr-redis", &[ServerCpu, Generator, Database], |bed| {
            let cache = bed.database(Make::Redis).url;
            Ok(bed.torr_serve(&["--cache", &cache])? + "/cached-worlds?count=1")
        })
        .needs(&["redis-server"]),
    ]
}
