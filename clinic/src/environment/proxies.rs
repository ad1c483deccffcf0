//! nginx and haproxy, with the parts of their configuration that a subject chooses.

use super::Environment;
use torr_test_support::error::Error;

/// The configuration of an nginx. Each part is text of its configuration file.
#[derive(Default)]
pub struct Nginx<'a> {
    /// The number of worker processes.
    pub workers: u8,
    /// The contents of `http`.
    pub http: &'a str,
    /// The contents of `server`.
    pub server: &'a str,
    /// The contents of `location /`.
    pub location: &'a str,
    /// Whether connections are TLS, with `certificate.pem` and `key.pem` of the folder.
    pub tls: bool,
}

/// The configuration of a haproxy. Each part is text of its configuration file.
#[derive(Default)]
pub struct Haproxy<'a> {
    /// The contents of `frontend`.
    pub frontend: &'a str,
    /// The URL of the server behind it, without a path.
    pub behind: &'a str,
    /// The options of that server.
    pub server: &'a str,
}

impl Environment {
    /// Starts nginx, and returns its URL with the path `/`.
    pub fn nginx(&mut self, with: &Nginx) -> Result<String, Error> {
        let listen = self.address()?;
        let Nginx { workers, http, server, location, tls } = with;
        let folder = self.folder().display().to_string();
        let (scheme, ssl) = if *tls { ("https", " ssl") } else { ("http", "") };
        let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
        let certificate = match tls {
            true => "ssl_certificate certificate.pem; ssl_certificate_key key.pem;",
            false => "",
        };
        let configuration = format!(
            "daemon off; {user} worker_processes {workers}; pid nginx.pid; error_log stderr crit;
             events {{ worker_connections 4096; }}
             http {{
                 access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                 uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                 default_type text/html; keepalive_requests 1000000000; {http}
                 server {{ listen {listen}{ssl} backlog=4096; {certificate} {server} location / {{ {location} }} }}
             }}"
        );
        self.write("nginx.conf", &configuration)?;
        let url = format!("{scheme}://{listen}/");
        self.serve("nginx", &["-p", &folder, "-c", "nginx.conf", "-e", "stderr"], &[], &url)?;
        Ok(url)
    }

    /// Starts haproxy in front of a server, and returns its URL without a path.
    pub fn haproxy(&mut self, with: &Haproxy) -> Result<String, Error> {
        let listen = self.address()?;
        let Haproxy { frontend, behind, server } = with;
        let behind = behind.trim_start_matches("http://");
        let configuration = format!(
            "defaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n  timeout queue 60s\n\
             frontend in\n  bind {listen}\n  default_backend out\n  {frontend}\n\
             backend out\n  server one {behind} {server}\n"
        );
        let file = self.write("haproxy.cfg", &configuration)?;
        let url = format!("http://{listen}");
        self.serve("haproxy", &["-db".as_ref(), "-f".as_ref(), file.as_os_str()], &[], &url)?;
        Ok(url)
    }
}
