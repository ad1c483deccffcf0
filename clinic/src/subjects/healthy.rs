//! Services with nothing wrong, and what may be called their ceiling.

use crate::subject::Subject;
use crate::ward::proxies::Nginx;
use torr_gauge::Factor::{Connections, Generator, ServerCpu, SingleCore};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::healthy("healthy-torr", &[ServerCpu, Generator], |bed| Ok(bed.torr_serve(&[])? + "/")),
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
        Subject::healthy("healthy-gunicorn", &[ServerCpu], |bed| bed.gunicorn("hello", &["--workers", "2"]))
            .needs(&["gunicorn"]),
        Subject::healthy("healthy-php", &[ServerCpu], |bed| bed.php("2", "<?php echo 'Hello, world!';"))
            .needs(&["php"]),
    ]
}
