//! The application on free ports with made-up data, ended with the test whatever happens.

use crate::data;
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use tempfile::TempDir;
use torr_test_support::certificates::self_signed;
use torr_test_support::program::signal;
use torr_test_support::{PATIENCE, wait_until};

/// A running application, which is killed with this value.
pub struct Application {
    child: Child,
    /// Addresses by the protocols' names.
    addresses: HashMap<String, String>,
    folder: TempDir,
}

impl Application {
    /// Starts it with the data set and the certificate.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts it with the files of `/static` as well, which take a second to compress.
    pub fn start_with_files() -> Self {
        let application = Self::start();
        data::write_files(&application.files());
        application
    }

    /// Starts it with the data set, the certificate and these environment variables.
    pub fn start_with(environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        data::write_items(folder.path());
        let (certificate, key) = self_signed(folder.path());
        let mut command = command();
        command.env("TLS_CERT", certificate).env("TLS_KEY", key);
        command.env("DATASET", folder.path().join("dataset.json")).env("STATIC_DIR", folder.path().join("static"));
        command.envs(environment.iter().copied());
        Self::run(command, folder, 4)
    }

    /// Starts it with no mount at all.
    pub fn start_bare() -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let mut command = command();
        for name in ["TLS_CERT", "TLS_KEY", "DATASET", "STATIC_DIR"] {
            command.env(name, folder.path().join("missing"));
        }
        // It says what is missing.
        command.stderr(Stdio::null());
        Self::run(command, folder, 2)
    }

    /// Runs a command, and reads the lines by which it tells where it listens on so many ports.
    fn run(mut command: Command, folder: TempDir, ports: usize) -> Self {
        let child = command.stdout(Stdio::piped()).spawn().expect("cargo has built the program for this test");
        // From here on it ends with this value.
        let mut application = Self { child, addresses: HashMap::new(), folder };
        let lines = BufReader::new(application.child.stdout.take().expect("it was piped")).lines();
        let (said, hears) = mpsc::channel();
        thread::spawn(move || lines.take(ports).map_while(Result::ok).try_for_each(|line| said.send(line)));
        let lines: Vec<_> = (0..ports).map_while(|_| hears.recv_timeout(PATIENCE).ok()).collect();
        assert_eq!(lines.len(), ports, "a line for each port: {lines:?}");
        let pair = |line: &String| line.split_once(": ").map(|(name, address)| (name.to_owned(), address.to_owned()));
        application.addresses = lines.iter().filter_map(pair).collect();
        application
    }

    /// Returns the address of a protocol.
    pub fn address(&self, protocol: &str) -> &str {
        self.addresses.get(protocol).unwrap_or_else(|| panic!("no {protocol} in {:?}", self.addresses))
    }

    /// Returns the URL of a path on port 8080.
    pub fn http(&self, path: &str) -> String {
        format!("http://{}{path}", self.address("HTTP/1.1"))
    }

    /// Returns the URL of a path on port 8081.
    pub fn https(&self, path: &str) -> String {
        format!("https://{}{path}", self.address("HTTP/1.1 over TLS"))
    }

    /// Returns the URL of a path on port 8082.
    pub fn h2c(&self, path: &str) -> String {
        format!("http://{}{path}", self.address("h2c"))
    }

    /// Returns the URL of a path on port 8443.
    pub fn h2(&self, path: &str) -> String {
        format!("https://{}{path}", self.address("h2"))
    }

    /// Returns the folder of the files under `/static`.
    pub fn files(&self) -> std::path::PathBuf {
        self.folder.path().join("static")
    }

    /// Asks it to leave, and returns how it has ended.
    pub fn stop(mut self) -> ExitStatus {
        signal(self.child.id(), "TERM");
        wait_until("the application to end", || self.child.try_wait().expect("a child can be waited for"))
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the application on free ports of the loopback address.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_httparena-under-check"));
    for port in ["HTTP_PORT", "HTTPS_PORT", "H2C_PORT", "H2_PORT"] {
        command.env(port, "0");
    }
    command.env("BIND", "127.0.0.1").env_remove("DATABASE_URL").env_remove("DATABASE_MAX_CONN");
    command
}
