//! What lies between two hosts: delay, a full link, and a client that runs out of ports.

use crate::subject::{Start, Subject};
use crate::ward::hosts::Link;
use crate::ward::proxies::Nginx;
use torr_gauge::Factor::{self, Bandwidth, ClientPorts, NetworkDelay};

fn apart(name: &'static str, factor: Factor, start: Start) -> Subject {
    Subject::fault(name, factor, start).for_root()
}

pub fn subjects() -> Vec<Subject> {
    vec![
        apart("delay-40ms", NetworkDelay, |bed| {
            bed.apart(&Link::Delay("20ms"))?;
            Ok(bed.torr_serve(&[])? + "/")
        }),
        apart("delay-100ms-nginx", NetworkDelay, |bed| {
            bed.apart(&Link::Delay("50ms"))?;
            bed.nginx(&Nginx { workers: 2, location: "return 200 'Hello';", ..Nginx::default() })
        })
        .needs(&["nginx"])
        .with(&["-c", "20"]),
        apart("bandwidth-20mbit", Bandwidth, |bed| {
            bed.apart(&Link::Rate("20mbit"))?;
            Ok(bed.torr_serve(&[])? + "/bytes/20000")
        }),
        apart("bandwidth-200mbit-nginx", Bandwidth, |bed| {
            bed.apart(&Link::Rate("200mbit"))?;
            bed.write("page.html", &"<p>Hello, world!</p>\n".repeat(5_000))?;
            let server = format!("root {};", bed.folder().display());
            Ok(bed.nginx(&Nginx { workers: 2, server: &server, ..Nginx::default() })? + "page.html")
        })
        .needs(&["nginx"]),
        apart("ports-too-few", ClientPorts, |bed| {
            bed.apart(&Link::Ports(100))?;
            Ok(bed.torr_serve(&[])? + "/sleep/10")
        })
        .with(&["-c", "400"]),
        apart("ports-waiting", ClientPorts, |bed| {
            bed.apart(&Link::Ports(1000))?;
            bed.patient(&["--wire", "leaves-closing"])
        })
        .with(&["--no-keepalive"]),
    ]
}
