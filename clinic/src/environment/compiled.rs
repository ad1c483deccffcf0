//! Services in C, Go and Java, which are compiled where they are started.

use super::Environment;
use std::process::Command;
use torr_test_support::error::Error;

impl Environment {
    /// Starts the service of `programs/service.c`, with a thread for each connection.
    pub fn c(&mut self, kind: &str, backlog: &str) -> Result<String, Error> {
        self.write("service.c", include_str!("../../programs/service.c"))?;
        self.compile("cc", &["-O2", "-pthread", "-o", "service", "service.c"])?;
        self.compiled("./service", &[], &[kind, backlog])
    }

    /// Starts the service of `programs/service.go`. `number` is that of the permits of a pool.
    pub fn go(&mut self, kind: &str, number: &str) -> Result<String, Error> {
        self.write("service.go", include_str!("../../programs/service.go"))?;
        self.compile("go", &["build", "-o", "service", "service.go"])?;
        self.compiled("./service", &[], &[kind, number])
    }

    /// Starts the service of `programs/Service.java`. `number` is that of the permits of a pool.
    pub fn java(&mut self, kind: &str, number: &str) -> Result<String, Error> {
        self.write("Service.java", include_str!("../../programs/Service.java"))?;
        self.compile("javac", &["Service.java"])?;
        // Java's own server writes header section and content separately: with Nagle's algorithm that would be the fault.
        self.compiled("java", &["-Dsun.net.httpserver.nodelay=true", "-cp", ".", "Service"], &[kind, number])
    }

    /// Compiles within the folder, in no placement: a compiler under a quota takes minutes.
    pub(super) fn compile(&self, compiler: &str, arguments: &[&str]) -> Result<(), Error> {
        let ended = Command::new(compiler).args(arguments).current_dir(self.folder()).output();
        let ended = ended.map_err(Error::at(compiler))?;
        match ended.status.success() {
            true => Ok(()),
            false => Err(Error::failed(format!("{compiler}: {}", String::from_utf8_lossy(&ended.stderr).trim()))),
        }
    }

    /// Starts a program of the folder. Host and port follow its first arguments.
    fn compiled(&mut self, program: &str, first: &[&str], last: &[&str]) -> Result<String, Error> {
        let listen = self.address()?;
        let (host, port, url) = (listen.ip().to_string(), listen.port().to_string(), format!("http://{listen}/"));
        self.serve(program, &[first, &[&host, &port], last].concat(), &[], &url)?;
        Ok(url)
    }
}
