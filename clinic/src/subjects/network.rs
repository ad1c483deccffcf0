//! Networks between two hosts: delay, a full link, and a client that runs out of ports.

use crate::environment::Environment;
use crate::environment::hosts::Link;
use crate::environment::proxies::Nginx;
use crate::subject::{Start, Subject};
use torr_gauge::Factor::{self, Bandwidth, ClientPorts, NetworkDelay};
use torr_test_support::error::Error;

fn apart(name: &'static str, factor: Factor, start: Start) -> Subject {
    Subject::fault(name, factor, start).for_root()
}

fn torr(env: &mut Environment, link: &Link, path: &str) -> Result<String, Error> {
    env.apart(link)?;
    Ok(env.torr_serve(&[])? + path)
}

/// Starts an nginx that responds without a file.
fn nginx(env: &mut Environment, link: &Link) -> Result<String, Error> {
    env.apart(link)?;
    env.nginx(&Nginx { workers: 2, location: "return 200 'Hello';", ..Nginx::default() })
}

/// Starts an nginx that serves a large file.
fn nginx_page(env: &mut Environment, link: &Link) -> Result<String, Error> {
    env.apart(link)?;
    env.write("page.html", &"<p>Hello, world!</p>\n".repeat(5_000))?;
    let server = format!("root {};", env.folder().display());
    Ok(env.nginx(&Nginx { workers: 2, server: &server, ..Nginx::default() })? + "page.html")
}

/// Starts a service that leaves closing to the client, which then has the port in TIME_WAIT.
fn leaves_closing(env: &mut Environment, link: &Link) -> Result<String, Error> {
    env.apart(link)?;
    env.service(&["--response", "leaves-closing"])
}

pub fn subjects() -> Vec<Subject> {
    vec![
        apart("delay-40ms", NetworkDelay, |env| torr(env, &Link::Delay("20ms"), "/"))
            .cured(|env| torr(env, &Link::Direct, "/")),
        apart("delay-100ms-nginx", NetworkDelay, |env| nginx(env, &Link::Delay("50ms")))
            .needs(&["nginx"])
            .with(&["-c", "20"])
            .cured(|env| nginx(env, &Link::Direct)),
        apart("bandwidth-20mbit", Bandwidth, |env| torr(env, &Link::Rate("20mbit"), "/bytes/20000"))
            .cured(|env| torr(env, &Link::Rate("40mbit"), "/bytes/20000")),
        apart("bandwidth-200mbit-nginx", Bandwidth, |env| nginx_page(env, &Link::Rate("200mbit")))
            .cured(|env| nginx_page(env, &Link::Rate("400mbit")))
            .needs(&["nginx"]),
        apart("ports-too-few", ClientPorts, |env| torr(env, &Link::Ports(100), "/sleep/10"))
            .with(&["-c", "400"])
            .cured(|env| torr(env, &Link::Direct, "/sleep/10")),
        apart("ports-waiting", ClientPorts, |env| leaves_closing(env, &Link::Ports(1000)))
            .with(&["--no-keepalive"])
            .cured(|env| leaves_closing(env, &Link::Direct))
            .cured_with(&[]),
    ]
}
