//! Fronts that speak another language than HTTP to what stands behind them, relays, and poolers of connections.

use super::advised::advised;
use crate::environment::databases::Make;
use crate::environment::hosts::Link;
use crate::environment::proxies::Nginx;
use crate::environment::{Environment, Fpm};
use crate::subject::Subject;
use torr_gauge::Factor::{ClientPorts, Database, Pool, Proxy, Workers};
use torr_test_support::error::Error;

/// A script that waits for something else for 10 ms.
const WAITS: &str = "<?php usleep(10000); echo 'slept';";

/// Starts an nginx before a PHP-FPM whose children wait.
fn fpm(env: &mut Environment, children: &str, over_unix: bool) -> Result<String, Error> {
    env.nginx_and_fpm(&Fpm { children, over_unix, backlog: "511", script: WAITS })
}

/// Starts an nginx before a PHP-FPM of 16 children, which send MariaDB a query of `rounds` of computation.
fn scanning(env: &mut Environment, rounds: u32) -> Result<String, Error> {
    let port = env.database(Make::MariaDb).port;
    let password = torr_test_support::databases::PASSWORD;
    let script = format!(
        "<?php $db = new mysqli('127.0.0.1', 'torr', '{password}', 'mysql', {port});
        echo $db->query(\"SELECT BENCHMARK({rounds}, MD5('torr'))\")->fetch_row()[0]; $db->close();"
    );
    env.nginx_and_fpm(&Fpm { children: "16", over_unix: false, backlog: "511", script: &script })
}

/// Returns the host and port of a URL without a path.
fn authority(url: &str) -> &str {
    url.trim_start_matches("http://").trim_end_matches('/')
}

/// Starts a gunicorn whose workers call another service, which takes 50 ms and as many requests at a time as there are.
fn relay(env: &mut Environment, workers: &str) -> Result<String, Error> {
    let upstream = env.service(&["--handler", "async-sleep=50ms"])?;
    env.gunicorn_with("relay", &["--workers", workers], &[("UPSTREAM", authority(&upstream))])
}

/// Starts a service whose 16 connections to a database go through a pgbouncer with `connections`.
fn pooled(env: &mut Environment, connections: u32) -> Result<String, Error> {
    let database = env.database(Make::Postgres);
    let url = env.pgbouncer(&database, connections)?;
    let handler = "sql=SELECT pg_sleep(0.005)";
    env.service(&["--path", "/", "--database", &url, "--handler", handler, "--database-pool", "16"])
}

/// Starts a service that keeps one of `pool` connections to a database while it calls another service.
fn held_during_call(env: &mut Environment, pool: &str) -> Result<String, Error> {
    let database = env.database(Make::Postgres).url;
    let upstream = env.service(&["--handler", "async-sleep=20ms"])?;
    let handler = format!("query-then-call={}", authority(&upstream));
    env.service(&["--path", "/", "--database", &database, "--handler", &handler, "--database-pool", pool])
}

/// Starts an nginx on a host with 1,000 local ports, which opens a connection to the service for each request and closes it first.
fn out_of_ports(env: &mut Environment, http: &str, upstream: &str) -> Result<String, Error> {
    env.apart(&Link::Direct)?;
    env.scarce_ports(1_000)?;
    let service = env.service(&["--response", "leaves-closing"])?;
    let address = authority(&service);
    let http = http.replace("SERVICE", address);
    let location = format!("proxy_pass http://{}; {upstream}", if http.is_empty() { address } else { "service" });
    env.nginx(&Nginx { workers: 2, http: &http, location: &location, ..Nginx::default() })
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("fpm-few-tcp", Workers, |env| fpm(env, "4", false))
            .cured(|env| fpm(env, &advised(), false))
            .needs(&["nginx", "php-fpm"]),
        Subject::fault("fpm-few-unix", Workers, |env| fpm(env, "4", true))
            .cured(|env| fpm(env, &advised(), true))
            .needs(&["nginx", "php-fpm"]),
        // From 32 connections on some responses are 502: the socket takes 16 connections that wait.
        Subject::fault("fpm-full-socket", Workers, |env| {
            env.nginx_and_fpm(&Fpm { children: "8", over_unix: true, backlog: "16", script: WAITS })
        })
        .cured(|env| fpm(env, &advised(), true))
        .needs(&["nginx", "php-fpm"]),
        Subject::fault("fpm-database", Database, |env| scanning(env, 10_000))
            .cured(|env| scanning(env, 5_000))
            .needs(&["nginx", "php-fpm", "mariadbd"]),
        Subject::fault("relay-gunicorn", Workers, |env| relay(env, "4"))
            .cured(|env| relay(env, &advised()))
            .needs(&["gunicorn"]),
        Subject::fault("pooler-two", Database, |env| pooled(env, 2)).cured(|env| pooled(env, 4)).needs(&[
            "postgres",
            "initdb",
            "pgbouncer",
        ]),
        Subject::fault("pool-held-during-call", Pool, |env| held_during_call(env, "10"))
            .or(Database)
            .cured(|env| held_during_call(env, "20"))
            .needs(&["postgres", "initdb"]),
        // At 100 connections there are errors; at 10 there are none, and the pool is as taken.
        Subject::fault("pool-refuses-after-300ms", Pool, |env| {
            env.service(&["--handler", "refusing=5:50ms:300ms", "--path", "/"])
        })
        .cured(|env| env.service(&["--handler", "refusing=10:50ms:300ms", "--path", "/"])),
        Subject::fault("proxy-out-of-ports", Proxy, |env| out_of_ports(env, "", ""))
            .or(ClientPorts)
            .cured(|env| {
                let http = "upstream service { server SERVICE; keepalive 64; }";
                out_of_ports(env, http, "proxy_http_version 1.1; proxy_set_header Connection '';")
            })
            .for_root()
            .needs(&["nginx"]),
    ]
}
