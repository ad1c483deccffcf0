//! Rate limits, with and without a status that tells, and requests that fail.

use crate::environment::Environment;
use crate::environment::proxies::{Haproxy, Nginx};
use crate::subject::Subject;
use torr_gauge::Factor::{Connections, Errors, RateLimit};
use torr_test_support::error::Error;

/// Starts an nginx that serves a file and limits `/` to a rate. A `return` would come before the limit.
fn limited(env: &mut Environment, rate: &str, how: &str, status: &str) -> Result<String, Error> {
    let http = format!("limit_req_zone $server_port zone=all:1m rate={rate}r/s; limit_req_status {status};");
    file(env, &http, &format!("limit_req zone=all {how};"))
}

/// Starts an nginx with one worker that serves a file.
fn file(env: &mut Environment, http: &str, location: &str) -> Result<String, Error> {
    env.write("index.html", "<p>Hello, world!</p>")?;
    let server = format!("root {};", env.folder().display());
    env.nginx(&Nginx { workers: 1, http, server: &server, location, ..Nginx::default() })
}

/// Starts a haproxy before `torr serve`.
fn haproxy(env: &mut Environment, frontend: &str) -> Result<String, Error> {
    let behind = env.torr_serve(&[])?;
    Ok(env.haproxy(&Haproxy { frontend, behind: &behind, ..Haproxy::default() })? + "/")
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("rate-nginx-503", RateLimit, |env| limited(env, "100", "burst=5 nodelay", "503"))
            .cured(|env| file(env, "", ""))
            .needs(&["nginx"]),
        Subject::fault("rate-nginx-429", RateLimit, |env| limited(env, "500", "burst=20 nodelay", "429"))
            .cured(|env| file(env, "", ""))
            .needs(&["nginx"]),
        Subject::fault("rate-nginx-delays", RateLimit, |env| limited(env, "500", "burst=1000", "429"))
            .cured(|env| file(env, "", ""))
            .needs(&["nginx"]),
        Subject::fault("rate-silent-bucket", RateLimit, |env| env.service(&["--handler", "bucket=400"]))
            .cured(|env| env.service(&[])),
        // Each further connection does bring more: that there are too few of them is as true.
        Subject::fault("rate-per-connection", RateLimit, |env| env.service(&["--handler", "pace=10"])).or(Connections),
        Subject::fault("rate-per-address", RateLimit, |env| env.service(&["--handler", "per-address=200"]))
            .cured(|env| env.service(&[])),
        Subject::fault("rate-haproxy-429", RateLimit, |env| {
            let limit = "stick-table type ip size 1k expire 10s store http_req_rate(1s)\n  \
                         http-request track-sc0 src\n  \
                         http-request deny deny_status 429 if { sc_http_req_rate(0) gt 300 }";
            haproxy(env, limit)
        })
        .cured(|env| haproxy(env, ""))
        .needs(&["haproxy"]),
        Subject::fault("errors-500", Errors, |env| env.service(&["--handler", "errors=30"])),
        Subject::fault("errors-bad-gateway", Errors, |env| {
            // No server listens on that address.
            let location = format!("proxy_pass http://{};", env.address()?);
            env.nginx(&Nginx { workers: 2, location: &location, ..Nginx::default() })
        })
        .needs(&["nginx"]),
        Subject::fault("errors-resets", Errors, |env| env.service(&["--response", "resets=20"])),
    ]
}
