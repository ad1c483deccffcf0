//! The servers: how each is started, all with one worker and, if not said otherwise, without a log.

use std::io;

use super::arguments::words;
use super::server_settings::ServerSettings;
use super::{
    ACTIX, ASYNC, ASYNC_PENDING, AXUM, FLOOR, JSON, NGINX, ROUTER, ROUTER_JSON, ROUTER_PENDING, TORR, certificate,
    nginx,
};
use crate::floor::PAGE;
use crate::scenario::{Scenario, Style};

/// A page of a server.
pub struct Service {
    /// Name among the candidates.
    pub name: &'static str,
    /// Name of its tool.
    pub tool: &'static str,
    /// The name of its server: services of one server share a process.
    pub server: &'static str,
    /// What it takes part in.
    pub styles: &'static [Style],
    /// Path of the page.
    pub path: &'static str,
    /// The page.
    pub page: &'static str,
    /// Whether a client requests the server's metrics meanwhile.
    pub scraped: bool,
    /// The server's arguments; files that it needs are written.
    pub arguments: fn(&ServerSettings<'_>) -> io::Result<Vec<String>>,
}

impl Service {
    const fn new(
        name: &'static str,
        tool: &'static str,
        styles: &'static [Style],
        arguments: fn(&ServerSettings<'_>) -> io::Result<Vec<String>>,
    ) -> Self {
        Self { name, tool, server: name, styles, path: "/", page: PAGE, scraped: false, arguments }
    }

    /// Another page of the same server.
    const fn page(&self, name: &'static str, styles: &'static [Style], path: &'static str, page: &'static str) -> Self {
        Self { name, styles, path, page, scraped: false, ..*self }
    }

    /// Returns whether the service takes part in a scenario.
    pub fn takes_part(&self, scenario: Scenario) -> bool {
        self.styles.contains(&scenario.style)
    }

    /// Path and page in this scenario. The floor has one page for all paths.
    pub fn page_request(&self, style: Style) -> (&'static str, &'static str) {
        match style {
            Style::Api if self.name != FLOOR => ("/api/users/7", r#"{"id":7,"name":"user 7"}"#),
            _ => (self.path, self.page),
        }
    }
}

/// What the floor is there for.
const FLOORED: &[Style] = &[Style::KeepAlive, Style::Close, Style::Api, Style::Pending, Style::Json, Style::Observed];
const SIMPLE: &[Style] = &[
    Style::KeepAlive,
    Style::Close,
    Style::Pipelined,
    Style::Tls,
    Style::TlsHandshakes,
    Style::TlsResumed,
    Style::Http2,
    Style::H2c,
    Style::Json,
    Style::Observed,
];
const ROUTED: &[Style] = &[
    Style::KeepAlive,
    Style::Close,
    Style::Pipelined,
    Style::Api,
    Style::Pending,
    Style::Tls,
    Style::TlsHandshakes,
    Style::TlsResumed,
    Style::Http2,
    Style::H2c,
    Style::Json,
];
const NGINX_DOES: &[Style] = &[
    Style::KeepAlive,
    Style::Close,
    Style::Pipelined,
    Style::Tls,
    Style::TlsHandshakes,
    Style::TlsResumed,
    Style::Http2,
    Style::H2c,
];
const PEERS_DO: &[Style] = &[Style::KeepAlive, Style::Close, Style::Pipelined, Style::Api];
const MESSAGE: &str = r#"{"message":"Hello, World!"}"#;

const SIMPLE_PAGE: Service = Service::new(TORR, TORR, SIMPLE, torr_serve);
const ROUTER_PAGE: Service = Service::new(ROUTER, "router", ROUTED, router);
const ASYNC_PAGE: Service = Service::new(ASYNC, "router", &[Style::Pending], waiting);

/// The servers' pages, in the order of the first round.
pub static SERVICES: [Service; 13] = [
    Service::new(FLOOR, FLOOR, FLOORED, floor_server),
    SIMPLE_PAGE,
    ROUTER_PAGE,
    Service::new(AXUM, "axum", PEERS_DO, axum),
    Service::new(ACTIX, ACTIX, PEERS_DO, actix),
    Service::new(NGINX, NGINX, NGINX_DOES, nginx::arguments),
    ASYNC_PAGE,
    ASYNC_PAGE.page(ASYNC_PENDING, &[Style::Pending], "/pending", PAGE),
    ROUTER_PAGE.page(ROUTER_PENDING, &[Style::Pending], "/pending", PAGE),
    SIMPLE_PAGE.page(JSON, &[Style::Json], "/json", MESSAGE),
    ROUTER_PAGE.page(ROUTER_JSON, &[Style::Json], "/json", MESSAGE),
    Service { scraped: true, ..SIMPLE_PAGE.page("torr, scraped", &[Style::Observed], "/", PAGE) },
    Service::new("torr, logged", TORR, &[Style::Observed], logged),
];

/// The server of this name.
pub fn service(name: &str) -> &'static Service {
    SERVICES.iter().find(|service| service.name == name).expect("a name from the table")
}

fn floor_server(server: &ServerSettings<'_>) -> io::Result<Vec<String>> {
    let close = if server.scenario.style.close() { "close" } else { "" };
    Ok(words(&format!("floor-server {} {close}", server.port)))
}

fn torr_serve(server: &ServerSettings<'_>) -> io::Result<Vec<String>> {
    let mut arguments = words(&format!("serve --workers 1 --listen 127.0.0.1:{}", server.port));
    for (flag, file) in ["--tls-cert", "--tls-key"].into_iter().zip(identity(server)?) {
        arguments.extend([flag.into(), file]);
    }
    Ok(arguments)
}

fn logged(server: &ServerSettings<'_>) -> io::Result<Vec<String>> {
    let mut arguments = torr_serve(server)?;
    arguments.extend(words("--access-log /dev/null"));
    Ok(arguments)
}

fn router(server: &ServerSettings<'_>) -> io::Result<Vec<String>> {
    let mut arguments = words(&format!("torr 127.0.0.1:{}", server.port));
    arguments.extend(identity(server)?);
    Ok(arguments)
}

fn waiting(server: &ServerSettings<'_>) -> io::Result<Vec<String>> {
    Ok(words(&format!("async 127.0.0.1:{}", server.port)))
}

fn axum(server: &ServerSettings<'_>) -> io::Result<Vec<String>> {
    Ok(words(&format!("axum 127.0.0.1:{}", server.port)))
}

fn actix(server: &ServerSettings<'_>) -> io::Result<Vec<String>> {
    Ok(words(&format!("127.0.0.1:{}", server.port)))
}

/// Certificate and key, where there is to be TLS.
fn identity(server: &ServerSettings<'_>) -> io::Result<Vec<String>> {
    if !server.scenario.style.tls() {
        return Ok(Vec::new());
    }
    Ok(certificate::files(server.folder)?.map(|file| file.to_string_lossy().into_owned()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Side;

    #[test]
    fn only_tls_has_a_certificate() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let command_line = |name: &str, style| {
            let scenario = Scenario { side: Side::Serve, style, connections: 100 };
            let arguments = (service(name).arguments)(&ServerSettings { port: 9, scenario, folder: folder.path() });
            arguments
                .expect("files can be written there")
                .join(" ")
                .replace(&*folder.path().to_string_lossy(), "FOLDER")
        };
        assert_eq!(command_line(TORR, Style::KeepAlive), "serve --workers 1 --listen 127.0.0.1:9");
        assert_eq!(
            command_line(TORR, Style::Tls),
            "serve --workers 1 --listen 127.0.0.1:9 --tls-cert FOLDER/certificate.pem --tls-key FOLDER/key.pem"
        );
        assert_eq!(command_line(ROUTER, Style::Http2), "torr 127.0.0.1:9 FOLDER/certificate.pem FOLDER/key.pem");
        assert_eq!(command_line(ROUTER, Style::H2c), "torr 127.0.0.1:9");
    }

    #[test]
    fn pages_of_one_server_share_a_process() {
        for service in &SERVICES {
            let server = super::service(service.server);
            assert_eq!(server.tool, service.tool, "{}", service.name);
            assert!(service.styles.iter().all(|style| server.styles.contains(style)), "{}", service.name);
        }
    }
}
