//! Limits of a rate, said aloud or kept silent.

use crate::error::Error;
use crate::subject::Subject;
use crate::ward::Bed;
use crate::ward::proxies::{Haproxy, Nginx};
use torr_gauge::Factor::{Connections, Errors, RateLimit};

/// An nginx of files that limits `/` to a rate; `return` would come before the limit.
fn limited(bed: &mut Bed, rate: &str, how: &str, status: &str) -> Result<String, Error> {
    bed.write("index.html", "<p>Hello, world!</p>")?;
    bed.nginx(&Nginx {
        workers: 1,
        http: &format!("limit_req_zone $server_port zone=all:1m rate={rate}r/s; limit_req_status {status};"),
        server: &format!("root {};", bed.folder().display()),
        location: &format!("limit_req zone=all {how};"),
        ..Nginx::default()
    })
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("rate-nginx-503", RateLimit, |bed| limited(bed, "100", "burst=5 nodelay", "503"))
            .needs(&["nginx"]),
        Subject::fault("rate-nginx-429", RateLimit, |bed| limited(bed, "500", "burst=20 nodelay", "429"))
            .needs(&["nginx"]),
        Subject::fault("rate-nginx-delays", RateLimit, |bed| limited(bed, "500", "burst=1000", "429"))
            .needs(&["nginx"]),
        Subject::fault("rate-silent-bucket", RateLimit, |bed| bed.patient(&["--work", "bucket=400"])),
        // Each further connection does bring more: that there are too few of them is as true.
        Subject::fault("rate-per-connection", RateLimit, |bed| bed.patient(&["--work", "pace=10"])).or(Connections),
        Subject::fault("rate-per-address", RateLimit, |bed| bed.patient(&["--work", "per-address=200"])),
        Subject::fault("rate-haproxy-429", RateLimit, |bed| {
            let behind = bed.torr_serve(&[])?;
            let frontend = "stick-table type ip size 1k expire 10s store http_req_rate(1s)\n  \
                            http-request track-sc0 src\n  \
                            http-request deny deny_status 429 if { sc_http_req_rate(0) gt 300 }";
            Ok(bed.haproxy(&Haproxy { frontend, behind: &behind, ..Haproxy::default() })? + "/")
        })
        .needs(&["haproxy"]),
        Subject::fault("errors-500", Errors, |bed| bed.patient(&["--work", "errors=30"])),
        Subject::fault("errors-bad-gateway", Errors, |bed| {
            // Nobody listens there.
            let location = format!("proxy_pass http://{};", bed.address()?);
            bed.nginx(&Nginx { workers: 2, location: &location, ..Nginx::default() })
        })
        .needs(&["nginx"]),
        Subject::fault("errors-resets", Errors, |bed| bed.patient(&["--wire", "resets=20"])),
    ]
}
