//! What stands behind a front or between a service and its database: PHP-FPM and pgbouncer. Neither speaks HTTP.

use super::Environment;
use super::databases::Database;
use super::programs;
use super::proxies::Nginx;
use super::socket::Socket;
use std::path::Path;
use torr_test_support::databases::PASSWORD;
use torr_test_support::error::Error;

/// The pool of PHP-FPM behind an nginx.
pub struct Fpm<'a> {
    /// The number of children.
    pub children: &'a str,
    /// Whether nginx reaches it over a Unix socket.
    pub over_unix: bool,
    /// The connections that may wait at its socket.
    pub backlog: &'a str,
    /// The script.
    pub script: &'a str,
}

impl Environment {
    /// Starts PHP-FPM and an nginx before it, and returns the URL of nginx.
    pub fn nginx_and_fpm(&mut self, with: &Fpm) -> Result<String, Error> {
        let Fpm { children, over_unix, backlog, script } = with;
        let page = self.write("index.php", script)?;
        let (socket, listen, upstream) = match over_unix {
            true => {
                let path = self.folder().join("fpm.sock");
                let listen = path.display().to_string();
                (Socket::Unix(path), listen.clone(), format!("unix:{listen}"))
            }
            false => {
                let address = self.address()?;
                (Socket::Tcp(address), address.to_string(), address.to_string())
            }
        };
        let log = self.folder().join("fpm-errors.log");
        let (user, as_root) = match rustix::process::geteuid().is_root() {
            true => ("user = root\ngroup = root\n", "-R"),
            false => ("", "-F"),
        };
        let configuration = self.write(
            "fpm.conf",
            &format!(
                "[global]\nerror_log = {}\ndaemonize = no\n[www]\n{user}listen = {listen}\nlisten.backlog = {backlog}\n\
                 pm = static\npm.max_children = {children}\n",
                log.display()
            ),
        )?;
        let program = programs::find("php-fpm").ok_or_else(|| Error::failed("php-fpm is missing"))?;
        let arguments = ["-F".as_ref(), as_root.as_ref(), "-y".as_ref(), configuration.as_os_str()];
        self.serve_socket(program, &arguments, &socket)?;
        self.nginx(&Nginx { workers: 2, location: &passing(&upstream, &page), ..Nginx::default() })
    }

    /// Starts pgbouncer before a database, with some connections to it, and returns the URL of the database through it.
    pub fn pgbouncer(&mut self, database: &Database, connections: u32) -> Result<String, Error> {
        let listen = self.address()?;
        let (start, rest) = database.url.split_once('@').ok_or_else(|| Error::failed("a URL without a user"))?;
        let (_, credentials) = start.split_once("://").ok_or_else(|| Error::failed("a URL without a scheme"))?;
        let (user, _) = credentials.split_once(':').unwrap_or((credentials, ""));
        let (_, name) = rest.split_once('/').unwrap_or((rest, "postgres"));
        let port = database.port;
        // It refuses to run as root.
        let as_user = if rustix::process::geteuid().is_root() { "user = nobody\n" } else { "" };
        let file = self.write(
            "pgbouncer.ini",
            &format!(
                "[databases]\n{name} = host=127.0.0.1 port={port} user={user} password='{PASSWORD}'\n[pgbouncer]\n{as_user}\
                 listen_addr = {}\nlisten_port = {}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
                 default_pool_size = {connections}\nmax_client_conn = 1000\nignore_startup_parameters = extra_float_digits\n",
                listen.ip(),
                listen.port()
            ),
        )?;
        self.serve_socket("pgbouncer", &[file.as_os_str()], &Socket::Tcp(listen))?;
        Ok(format!("{start}@{listen}/{name}"))
    }
}

/// Returns the directives of nginx that pass each request to a script by FastCGI.
fn passing(upstream: &str, page: &Path) -> String {
    format!(
        "fastcgi_pass {upstream}; fastcgi_param SCRIPT_FILENAME {}; fastcgi_param REQUEST_METHOD $request_method; \
         fastcgi_param QUERY_STRING $query_string; fastcgi_param REQUEST_URI $request_uri; \
         fastcgi_param SERVER_PROTOCOL $server_protocol;",
        page.display()
    )
}
