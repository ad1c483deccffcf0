//! The servers that subjects are made of, each started in one way.

use super::Bed;
use crate::error::Error;
use std::env;
use std::path::PathBuf;

/// A program on the PATH, or where Debian keeps those that are not for everybody.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders = env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/bin".into()])
        .chain(debian.map(|version| version.path().join("bin")));
    folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()))
}

impl Bed {
    /// Our own service with faults; the words are `torr-clinic patient`'s.
    pub fn patient(&mut self, words: &[&str]) -> Result<String, Error> {
        let listen = self.address()?.to_string();
        let url = format!("http://{listen}/");
        let arguments = [&["patient", "--listen", &listen], words].concat();
        self.serve(env::current_exe()?, &arguments, &[], &url)?;
        Ok(url)
    }

    /// `torr serve`; gives its URL without a path.
    pub fn torr_serve(&mut self, words: &[&str]) -> Result<String, Error> {
        let listen = self.address()?.to_string();
        let url = format!("http://{listen}");
        let arguments = [&["serve", "--listen", &listen], words].concat();
        let torr = self.torr().to_owned();
        self.serve(torr, &arguments, &[], &url)?;
        Ok(url)
    }

    /// A WSGI application of `programs/wsgi.py` in gunicorn.
    pub fn gunicorn(&mut self, application: &str, words: &[&str]) -> Result<String, Error> {
        self.write("wsgi.py", include_str!("../../programs/wsgi.py"))?;
        let listen = self.address()?.to_string();
        let url = format!("http://{listen}/");
        let application = format!("wsgi:{application}");
        let arguments = [&["--bind", &listen, "--log-level", "error"], words, &[&application]].concat();
        self.serve("gunicorn", &arguments, &[], &url)?;
        Ok(url)
    }

    /// An ASGI application of `programs/asgi.py` in uvicorn.
    pub fn uvicorn(&mut self, application: &str, words: &[&str]) -> Result<String, Error> {
        self.write("asgi.py", include_str!("../../programs/asgi.py"))?;
        let listen = self.address()?;
        let url = format!("http://{listen}/");
        let (host, port, application) =
            (listen.ip().to_string(), listen.port().to_string(), format!("asgi:{application}"));
        let own = ["--host", &host, "--port", &port, "--log-level", "error", "--no-access-log"];
        let arguments = [&own, words, &[&application]].concat();
        self.serve("uvicorn", &arguments, &[], &url)?;
        Ok(url)
    }

    /// PHP's own server with so many workers, and a script.
    pub fn php(&mut self, workers: &str, script: &str) -> Result<String, Error> {
        self.write("index.php", script)?;
        let listen = self.address()?.to_string();
        let url = format!("http://{listen}/");
        let variables = [("PHP_CLI_SERVER_WORKERS", workers)];
        self.serve("php", &["-q", "-S", &listen, "index.php"], &variables, &url)?;
        Ok(url)
    }

    /// A script of `programs/` in its interpreter, which is told the host and the port to listen on.
    pub fn script(&mut self, interpreter: &str, name: &str, script: &str, words: &[&str]) -> Result<String, Error> {
        self.write(name, script)?;
        let listen = self.address()?;
        let url = format!("http://{listen}/");
        let (host, port) = (listen.ip().to_string(), listen.port().to_string());
        let arguments = [&[name, &host, &port], words].concat();
        self.serve(interpreter, &arguments, &[], &url)?;
        Ok(url)
    }
}
