//! An example as a running program, and requests to it.

use http::HeaderMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use torr_test_support::client::Client;
use torr_test_support::{PATIENCE, example, wait_until};
use ureq::Agent;

/// An example that runs; killed with this value.
pub struct Example {
    child: Child,
    pub address: SocketAddr,
    output: BufReader<ChildStdout>,
    agent: Agent,
}

/// What it answered.
#[derive(Debug)]
pub struct ClientResponse {
    pub status: u16,
    pub fields: HeaderMap,
    pub body: Vec<u8>,
}

impl ClientResponse {
    /// The value of a field, which must not stand there twice.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut values = self.fields.get_all(name).iter();
        let value = values.next();
        assert_eq!(values.next(), None, "{name} stands twice in {self:?}");
        value.map(|value| value.to_str().unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Status and body, to be compared at once.
    pub fn status_and_text(&self) -> (u16, &str) {
        (self.status, self.text())
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Example {
    /// Starts it on a port that it takes itself, and that its first line tells.
    pub fn start(name: &str, arguments: &[&str]) -> Self {
        let mut example = Self::spawn(name, "127.0.0.1:0", arguments);
        let mut line = String::new();
        example.output.read_line(&mut line).expect("what it says is text");
        let url = line.trim_end();
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        let address = rest.and_then(|rest| rest.strip_suffix('/')?.parse().ok());
        example.address = address.unwrap_or_else(|| panic!("{name} said {line:?} instead of where it listens"));
        example
    }

    /// Starts one that does not say where it listens on a free port, and waits until it does.
    pub fn start_silent(name: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a port is free");
        let mut example = Self::spawn(name, &address.to_string(), &[]);
        example.address = address;
        wait_until("the example to listen", || {
            let ended = example.child.try_wait().expect("a child can be waited for");
            assert_eq!(ended, None, "{name} has ended");
            responds(address)
        });
        example
    }

    fn spawn(name: &str, address: &str, arguments: &[&str]) -> Self {
        let program = example(name);
        let mut command = Command::new(&program);
        command.arg(address).args(arguments).stdout(Stdio::piped()).env("RUST_BACKTRACE", "0");
        let child = command.spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let output = BufReader::new(child.stdout.take().expect("it was asked for"));
        // Responses are wanted with any status, redirects too.
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        Self { child, address: SocketAddr::from(([0; 4], 0)), output, agent }
    }

    /// Sends a request without a body.
    pub fn ask(&self, line: &str, fields: &[(&str, &str)]) -> ClientResponse {
        self.run(self.request(line, fields).body(()))
    }

    /// Sends a request with a body.
    pub fn send(&self, line: &str, fields: &[(&str, &str)], body: impl AsRef<[u8]>) -> ClientResponse {
        self.run(self.request(line, fields).body(body.as_ref()))
    }

    pub fn get(&self, path: &str) -> ClientResponse {
        self.ask(&format!("GET {path}"), &[])
    }

    /// Sends a GET, and leaves the body to be read as it comes.
    pub fn open(&self, path: &str) -> (HeaderMap, BufReader<impl Read + use<>>) {
        let response = self.agent.get(format!("http://{}{path}", self.address)).call();
        let (head, body) = response.unwrap_or_else(|error| panic!("GET {path}: {error}")).into_parts();
        assert_eq!(head.status, 200, "GET {path}");
        (head.headers, BufReader::new(body.into_reader()))
    }

    /// A connection that is handled by hand.
    pub fn client(&self) -> Client {
        Client::connect(self.address)
    }

    fn request(&self, line: &str, fields: &[(&str, &str)]) -> http::request::Builder {
        let (method, path) = line.split_once(' ').expect("a method and a path");
        let request = http::Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        fields.iter().fold(request, |request, (name, value)| request.header(*name, *value))
    }

    fn run(&self, request: http::Result<http::Request<impl ureq::AsSendBody>>) -> ClientResponse {
        let request = request.expect("the request is valid");
        let what = format!("{} {}", request.method(), request.uri());
        let (head, mut body) = self.agent.run(request).unwrap_or_else(|error| panic!("{what}: {error}")).into_parts();
        let body = body.read_to_vec().unwrap_or_else(|error| panic!("{what}: the body: {error}"));
        ClientResponse { status: head.status.as_u16(), fields: head.headers, body }
    }

    /// Tells it to stop.
    pub fn terminate(&self) {
        let killed = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(killed.is_ok_and(|status| status.success()), "a child can be sent SIGTERM");
    }

    /// Waits until it has ended in order. Returns what else it has said.
    pub fn wait(mut self) -> String {
        let status = wait_until("the example to end", || self.child.try_wait().expect("a child can be waited for"));
        assert_eq!(status.code(), Some(0));
        let mut said = String::new();
        self.output.read_to_string(&mut said).expect("what it says is text");
        said
    }

    /// Ends it by SIGTERM, which its client sees.
    pub fn leaves(self) -> String {
        let mut client = self.client();
        // Only what has been accepted sees the end.
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        client.response();
        self.terminate();
        client.ends();
        drop(client);
        self.wait()
    }
}

/// Whether a request has a response. To connect is not enough: a server looks whether its port is free by listening on
/// it, and stops again before its workers listen.
fn responds(address: SocketAddr) -> Option<()> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
    (stream.read(&mut [0]).ok()? == 1).then_some(())
}
