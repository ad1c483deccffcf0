//! The start of each kind of server.

use super::Environment;
use std::env;
use std::path::{Path, PathBuf};
use torr_test_support::error::Error;

/// The arguments of `torr` for a service at a Unix socket of its folder.
pub const OVER_UNIX: &[&str] = &["--unix-socket", "service.sock"];

/// The program whose name has its version at its end in Debian.
pub const PHP_FPM: &str = "php-fpm";

/// Returns the path of a program on the PATH, or in the folders of Debian for system programs and PostgreSQL. [`PHP_FPM`] may have a
/// version.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders: Vec<PathBuf> = env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/bin".into()])
        .chain(debian.map(|version| version.path().join("bin")))
        .collect();
    let exact = folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    let has_version = || folders.iter().find_map(|folder| with_version(folder, name)).filter(|_| name == PHP_FPM);
    exact.or_else(has_version)
}

/// Returns the program of a folder whose name is this one, followed by a version with a dot.
fn with_version(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_it = |file: &PathBuf| {
        let version = file.file_name().and_then(|file| file.to_str()?.strip_prefix(name));
        let is_version = |text: &str| text.contains('.') && text.chars().all(|c| c.is_ascii_digit() || c == '.');
        version.is_some_and(is_version)
    };
    let version = |file: &PathBuf| -> Vec<u32> {
        let text = file.to_string_lossy();
        let digits = text.rsplit(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
        digits.split('.').filter_map(|number| number.parse().ok()).collect()
    };
    // The latest, where there are several.
    std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).filter(is_it).max_by_key(version)
}

impl Environment {
    /// Starts the clinic's own service. `arguments` are the options of `service.rs`.
    pub fn service(&mut self, arguments: &[&str]) -> Result<String, Error> {
        let listen = self.address()?;
        let url = format!("http://{listen}/");
        let socket = listen.to_string();
        let options = [&["--listen", &socket], arguments].concat();
        if options.iter().any(|option| option.contains('\n')) {
            return Err(Error::failed("an option of the service has several lines"));
        }
        let file = self.write(&format!("service-{}", listen.port()), &options.join("\n"))?;
        self.serve(env::current_exe()?, &["service".as_ref(), file.as_os_str()], &[], &url)?;
        Ok(url)
    }

    /// Starts `torr serve`, and returns its URL without a path.
    pub fn torr_serve(&mut self, arguments: &[&str]) -> Result<String, Error> {
        let listen = self.address()?.to_string();
        let url = format!("http://{listen}");
        let arguments = [&["serve", "--listen", &listen], arguments].concat();
        let torr = self.torr().to_owned();
        self.serve(torr, &arguments, &[], &url)?;
        Ok(url)
    }

    /// Starts gunicorn with a WSGI application of `programs/wsgi.py`.
    pub fn gunicorn(&mut self, application: &str, arguments: &[&str]) -> Result<String, Error> {
        self.gunicorn_with(application, arguments, &[])
    }

    /// Starts gunicorn with a WSGI application of `programs/wsgi.py` and variables of its environment.
    pub fn gunicorn_with(
        &mut self,
        application: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<String, Error> {
        let listen = self.address()?.to_string();
        let url = format!("http://{listen}/");
        self.gunicorn_at(&listen, &url, application, arguments, variables)?;
        Ok(url)
    }

    /// Starts gunicorn at the Unix socket `service.sock` of the folder, and returns a URL for it.
    pub fn gunicorn_over_unix(&mut self, application: &str, arguments: &[&str]) -> Result<String, Error> {
        self.way = OVER_UNIX;
        self.gunicorn_at("unix:service.sock", "http://localhost/", application, arguments, &[])?;
        Ok("http://localhost/".into())
    }

    fn gunicorn_at(
        &mut self,
        bind: &str,
        url: &str,
        application: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<(), Error> {
        self.write("wsgi.py", include_str!("../../programs/wsgi.py"))?;
        let application = format!("wsgi:{application}");
        let arguments = [&["--bind", bind, "--log-level", "error"], arguments, &[&application]].concat();
        self.serve("gunicorn", &arguments, variables, url)
    }

    /// Starts uvicorn at the Unix socket `service.sock` of the folder, and returns a URL for it.
    pub fn uvicorn_over_unix(&mut self, application: &str) -> Result<String, Error> {
        self.write("asgi.py", include_str!("../../programs/asgi.py"))?;
        self.way = OVER_UNIX;
        let (url, application) = ("http://localhost/", format!("asgi:{application}"));
        let arguments = ["--uds", "service.sock", "--log-level", "error", "--no-access-log", &application];
        self.serve("uvicorn", &arguments, &[], url)?;
        Ok(url.into())
    }

    /// Starts uvicorn with an ASGI application of `programs/asgi.py`.
    pub fn uvicorn(&mut self, application: &str, arguments: &[&str]) -> Result<String, Error> {
        self.write("asgi.py", include_str!("../../programs/asgi.py"))?;
        let listen = self.address()?;
        let url = format!("http://{listen}/");
        let (host, port, application) =
            (listen.ip().to_string(), listen.port().to_string(), format!("asgi:{application}"));
        let own = ["--host", &host, "--port", &port, "--log-level", "error", "--no-access-log"];
        let arguments = [&own, arguments, &[&application]].concat();
        self.serve("uvicorn", &arguments, &[], &url)?;
        Ok(url)
    }

    /// Starts PHP's own server with a number of workers and a script.
    pub fn php(&mut self, workers: &str, script: &str) -> Result<String, Error> {
        self.write("index.php", script)?;
        let listen = self.address()?.to_string();
        let url = format!("http://{listen}/");
        let variables = [("PHP_CLI_SERVER_WORKERS", workers)];
        self.serve("php", &["-q", "-S", &listen, "index.php"], &variables, &url)?;
        Ok(url)
    }

    /// Starts a script of `programs/` in its interpreter, with the host and the port to listen on as its first arguments.
    pub fn script(&mut self, interpreter: &str, name: &str, script: &str, arguments: &[&str]) -> Result<String, Error> {
        self.write(name, script)?;
        let listen = self.address()?;
        let url = format!("http://{listen}/");
        let (host, port) = (listen.ip().to_string(), listen.port().to_string());
        let arguments = [&[name, &host, &port], arguments].concat();
        self.serve(interpreter, &arguments, &[], &url)?;
        Ok(url)
    }
}
