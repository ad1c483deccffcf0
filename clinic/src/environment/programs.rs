//! The start of each kind of server.

use super::Environment;
use std::env;
use std::path::PathBuf;
use torr_test_support::error::Error;

/// Returns the path of a program on the PATH, or in the folders of Debian for system programs and PostgreSQL.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders = env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/bin".into()])
        .chain(debian.map(|version| version.path().join("bin")));
    folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()))
}

impl Environment {
    /// Starts the clinic's own service. `arguments` are those of `torr-clinic service`.
    pub fn service(&mut self, arguments: &[&str]) -> Result<String, Error> {
        let listen = self.address()?.to_string();
        let url = format!("http://{listen}/");
        let arguments = [&["service", "--listen", &listen], arguments].concat();
        self.serve(env::current_exe()?, &arguments, &[], &url)?;
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
        self.write("wsgi.py", include_str!("../../programs/wsgi.py"))?;
        let listen = self.address()?.to_string();
        let url = format!("http://{listen}/");
        let application = format!("wsgi:{application}");
        let arguments = [&["--bind", &listen, "--log-level", "error"], arguments, &[&application]].concat();
        self.serve("gunicorn", &arguments, &[], &url)?;
        Ok(url)
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
