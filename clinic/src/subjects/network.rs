//! What lies between two hosts: delay, a full link, and a client that runs out of ports.

use crate::environment::hosts::Link;
use crate::environment::proxies::Nginx;
use crate::subject::{Start, Subject};
use torr_gauge::Factor::{self, Bandwidth, ClientPorts, NetworkDelay};

fn apart(name: &'static str, factor: Factor, start: Start) -> Subject {
    Subject::fault(name, factor, start).for_root()
}

pub fn subjects() -> Vec<Subject> {
    vec![
        apart("delay-40ms", NetworkDelay, |env| {
            env.apart(&Link::Delay("20ms"))?;
            Ok(env.torr_serve(&[])? + "/")
        }),
        apart("delay-100ms-nginx", NetworkDelay, |env| {
            env.apart(&Link::Delay("50ms"))?;
            env.nginx(&Nginx { workers: 2, location: "return 200 'Hello';", ..Nginx::default() })
        })
        .needs(&["nginx"])
        .with(&["-c", "20"]),
        apart("bandwidth-20mbit", Bandwidth, |env| {
            env.apart(&Link::Rate("20mbit"))?;
            Ok(env.torr_serve(&[])? + "/bytes/20000")
        }),
        apart("bandwidth-200mbit-nginx", Bandwidth, |env| {
            env.apart(&Link::Rate("200mbit"))?;
            env.write("page.html", &"<p>Hello, world!</p>\n".repeat(5_000))?;
            let server = format!("root {};", env.folder().display());
            Ok(env.nginx(&Nginx { workers: 2, server: &server, ..Nginx::default() })? + "page.html")
        })
        .needs(&["nginx"]),
        apart("ports-too-few", ClientPorts, |env| {
            env.apart(&Link::Ports(100))?;
            Ok(env.torr_serve(&[])? + "/sleep/10")
        })
        .with(&["-c", "400"]),
        apart("ports-waiting", ClientPorts, |env| {
            env.apart(&Link::Ports(1000))?;
            env.service(&["--response", "leaves-closing"])
        })
        .with(&["--no-keepalive"]),
    ]
}
