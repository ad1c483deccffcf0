//! `nats-server` from Debian, and a client of its text protocol for what no agent would send.

use crate::program::{Running, torr_command};
use crate::supervised::Supervised;
use crate::wait_until;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A NATS server on a port of its own, which ends with this value.
pub struct NatsServer {
    running: Option<Running>,
    folder: TempDir,
    host: &'static str,
    port: u16,
}

impl NatsServer {
    pub fn start() -> Self {
        Self::start_with("")
    }

    /// With these lines in its configuration.
    pub fn start_with(config: &str) -> Self {
        Self::start_on("127.0.0.1", config)
    }

    /// On an address of this machine.
    pub fn start_on(host: &'static str, config: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        fs::write(folder.path().join("nats.conf"), config).expect("a file can be written");
        let mut server = Self { running: None, folder, host, port: 0 };
        server.run("-1");
        server.port = wait_until("the NATS server to write its port", || server.port_of_file());
        server.until_it_listens();
        server
    }

    /// Starts a server that was killed, on its port.
    pub fn start_again(&mut self) {
        self.run(&self.port.to_string());
        self.until_it_listens();
    }

    /// Starts a server that was killed, on its port, with these lines in its configuration instead.
    pub fn start_again_with(&mut self, config: &str) {
        fs::write(self.folder.path().join("nats.conf"), config).expect("a file can be written");
        self.start_again();
    }

    pub fn kill(&mut self) {
        drop(self.running.take());
    }

    pub fn url(&self) -> String {
        format!("nats://{}", self.address())
    }

    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    fn run(&mut self, port: &str) {
        let folder = self.folder.path();
        let mut command = Command::new("nats-server");
        command.args(["-a", self.host, "-p", port, "--ports_file_dir"]).arg(folder);
        command.arg("-c").arg(folder.join("nats.conf"));
        self.running = Some(Running::start(command));
    }

    fn port_of_file(&self) -> Option<u16> {
        let files = fs::read_dir(self.folder.path()).ok()?.flatten();
        let texts = files.filter(|file| file.path().extension().is_some_and(|end| end == "ports"));
        let text = texts.filter_map(|file| fs::read_to_string(file.path()).ok()).next()?;
        let ports: serde_json::Value = serde_json::from_str(&text).ok()?;
        ports["nats"][0].as_str()?.rsplit(':').next()?.parse().ok()
    }

    fn until_it_listens(&self) {
        wait_until("the NATS server to listen", || TcpStream::connect(self.address()).ok());
    }

    /// An agent of this name with a ceiling that is not measured, once it is ready.
    pub fn agent(&self, name: &str, args: &[&str]) -> Supervised {
        self.agent_with_ceiling(name, "1000", args)
    }

    pub fn agent_with_ceiling(&self, name: &str, ceiling: &str, args: &[&str]) -> Supervised {
        let url = self.url();
        let common = ["fleet", "agent", "--nats", &url, "--name", name, "--ceiling", ceiling];
        let agent = Supervised::spawn(torr_command(&[&common, args].concat()));
        agent.says("is ready");
        agent
    }

    /// `torr fleet run` with these arguments.
    pub fn run_of_fleet(&self, args: &[&str]) -> Command {
        let url = self.url();
        torr_command(&[&["fleet", "run", "--nats", &url], args].concat())
    }
}

/// Responds to each message on a subject with the same content, in NATS' text protocol, until the connection ends.
pub fn respond(address: &str, subject: &str, content: String) {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket takes options");
    let mut reader = BufReader::new(stream.try_clone().expect("a socket can be cloned"));
    write!(stream, "CONNECT {{\"verbose\":false}}\r\nSUB {subject} 1\r\nPING\r\n").expect("the server reads");
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["PING"] => write!(stream, "PONG\r\n").expect("the server reads"),
                ["PONG"] => ready.send(()).expect("the test waits"),
                ["MSG", _, _, reply, length] => {
                    let length: usize = length.parse().expect("it is a number");
                    reader.read_exact(&mut vec![0; length + 2]).expect("the content follows");
                    write!(stream, "PUB {reply} {}\r\n{content}\r\n", content.len()).expect("the server reads");
                }
                _ => {}
            }
            line.clear();
        }
    });
    is_ready.recv_timeout(crate::PATIENCE).expect("the server responds to a ping");
}

/// Delivers each message on a server a second time, with all that it has, until the server ends.
pub fn deliver_twice(address: &str) {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let mut reader = BufReader::new(stream.try_clone().expect("a socket can be cloned"));
    // Without an echo it does not see what it has sent itself.
    let hello = "CONNECT {\"verbose\":false,\"echo\":false}\r\nSUB > 1\r\nPING\r\n";
    stream.write_all(hello.as_bytes()).expect("the server reads");
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["PING"] => write!(stream, "PONG\r\n").expect("the server reads"),
                ["PONG"] => ready.send(()).expect("the test waits"),
                ["MSG", subject, _, ref rest @ ..] => {
                    let length: usize = rest.last().and_then(|length| length.parse().ok()).expect("it is a number");
                    let mut content = vec![0; length + 2];
                    reader.read_exact(&mut content).expect("the content follows");
                    let again = write!(stream, "PUB {subject} {}\r\n", rest.join(" "));
                    // The server may end before this thread.
                    if again.and_then(|()| stream.write_all(&content)).is_err() {
                        break;
                    }
                }
                _ => {}
            }
            line.clear();
        }
    });
    is_ready.recv_timeout(crate::PATIENCE).expect("the server responds to a ping");
}
