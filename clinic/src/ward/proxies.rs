//! nginx and haproxy, with the parts of their configurations that subjects choose.

use super::Bed;
use crate::error::Error;

/// What an nginx is to do; each part is text of its configuration.
#[derive(Default)]
pub struct Nginx<'a> {
    /// One process, or two.
    pub workers: u8,
    /// What stands in `http`.
    pub http: &'a str,
    /// What stands in `server`.
    pub server: &'a str,
    /// What stands in `location /`.
    pub location: &'a str,
    /// Whether it speaks TLS, with `certificate.pem` and `key.pem` of the folder.
    pub tls: bool,
}

/// What a haproxy is to do; each part is text of its configuration.
#[derive(Default)]
pub struct Haproxy<'a> {
    /// What stands in `frontend`.
    pub frontend: &'a str,
    /// The URL of the server behind it, without a path.
    pub behind: &'a str,
    /// What stands on that server's line.
    pub server: &'a str,
}

impl Bed {
    /// nginx; gives its URL with the path `/`.
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

    /// haproxy in front of a server; gives its URL without a path.
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
