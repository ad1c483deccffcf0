//! Services without a fault, and the factors that may be called their limit.

use super::node::node;
use super::proxies::keeping_nginx;
use crate::environment::databases::Make;
use crate::environment::proxies::{Haproxy, Nginx};
use crate::subject::Subject;
use torr_gauge::Factor::{Connections, Database, Generator, KeepAlive, Proxy, ServerCpu, SingleCore};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::healthy("healthy-torr", &[ServerCpu, Generator], |env| Ok(env.torr_serve(&[])? + "/")),
        Subject::healthy("healthy-torr-visitors", &[KeepAlive, ServerCpu, Generator], |env| {
            Ok(env.torr_serve(&[])? + "/")
        })
        .with(&["--no-keepalive"]),
        Subject::healthy("healthy-torr-sqlite", &[ServerCpu, Generator], |env| Ok(env.torr_serve(&[])? + "/db/raw")),
        Subject::healthy("healthy-sleeper", &[Connections], |env| Ok(env.torr_serve(&[])? + "/sleep/10")),
        Subject::healthy("healthy-nginx", &[ServerCpu, Generator], |env| {
            env.write("index.html", "<p>Hello, world!</p>")?;
            let server = format!("root {};", env.folder().display());
            env.nginx(&Nginx { workers: 2, server: &server, ..Nginx::default() })
        })
        .needs(&["nginx"]),
        Subject::healthy("healthy-node", &[SingleCore, ServerCpu], |env| node(env, "0", 1)).needs(&["node"]),
        Subject::healthy("healthy-uvicorn", &[SingleCore, ServerCpu], |env| env.uvicorn("hello", &[]))
            .needs(&["uvicorn"]),
        Subject::healthy("healthy-gunicorn", &[ServerCpu], |env| {
            env.gunicorn("hello", &["--workers", "2", "--threads", "4", "--keep-alive", "30"])
        })
        .needs(&["gunicorn"]),
        // PHP's own server never keeps a connection.
        Subject::healthy("healthy-php", &[ServerCpu, KeepAlive], |env| env.php("2", "<?php echo 'Hello, world!';"))
            .needs(&["php"]),
        // The proxy needs as much of the CPU as all the rest.
        Subject::healthy("healthy-nginx-proxy", &[ServerCpu, Generator, Proxy], keeping_nginx).needs(&["nginx"]),
        Subject::healthy("healthy-haproxy", &[ServerCpu, Generator, Proxy], |env| {
            let behind = env.torr_serve(&[])?;
            Ok(env.haproxy(&Haproxy { behind: &behind, ..Haproxy::default() })? + "/")
        })
        .needs(&["haproxy"]),
        Subject::healthy("healthy-torr-redis", &[ServerCpu, Generator, Database], |env| {
            let cache = env.database(Make::Redis).url;
            Ok(env.torr_serve(&["--cache", &cache])? + "/cached-worlds?count=1")
        })
        .needs(&["redis-check-rdb"]),
    ]
}
