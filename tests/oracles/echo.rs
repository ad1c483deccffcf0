//! A server that keeps each request as it arrived, and sets a cookie or sends the responses of a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    pub method: String,
    pub target: String,
    /// Names and values in their order.
    pub fields: Vec<(String, String)>,
    pub content: Vec<u8>,
    /// The number of the connection, from 0.
    pub connection: usize,
}

/// What a server responds to a request; `None` to close the connection instead.
pub type Responder = fn(&Arrived) -> Option<Vec<u8>>;

/// A running server; its thread ends with the test program.
pub struct Echo {
    pub origin: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Echo {
    pub fn start() -> Self {
        Self::responding(empty)
    }

    /// Starts a server with responses of its own.
    pub fn responding(respond: Responder) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let arrived: Arc<Mutex<Vec<Arrived>>> = Arc::default();
        let kept = arrived.clone();
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().flatten().enumerate() {
                let kept = kept.clone();
                // A client that ends its connection in the middle of a request is no failure of the server.
                thread::spawn(move || _ = serve(stream, connection, &kept, respond));
            }
        });
        Self { origin: format!("http://{address}"), arrived }
    }

    /// Returns whether there was a request for a target since the last call of [`take`](Self::take).
    pub fn has(&self, target: &str) -> bool {
        self.arrived.lock().expect("no thread panics with it").iter().any(|request| request.target == target)
    }

    /// Returns the requests since the last call.
    pub fn take(&self) -> Vec<Arrived> {
        std::mem::take(&mut self.arrived.lock().expect("no thread panics with it"))
    }
}

fn serve(stream: TcpStream, connection: usize, kept: &Mutex<Vec<Arrived>>, respond: Responder) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    loop {
        let line = line(&mut reader)?;
        let mut words = line.split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(()) };
        let mut fields = Vec::new();
        loop {
            let line = self::line(&mut reader)?;
            let Some((name, value)) = line.split_once(':') else { break };
            fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        let field =
            |name: &str| fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str());
        if field("expect").is_some() {
            writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let mut content = Vec::new();
        if let Some(length) = field("content-length").and_then(|length| length.parse().ok()) {
            content.resize(length, 0);
            reader.read_exact(&mut content)?;
        } else if field("transfer-encoding").is_some() {
            loop {
                let size = usize::from_str_radix(&self::line(&mut reader)?, 16).unwrap_or(0);
                let start = content.len();
                content.resize(start + size, 0);
                reader.read_exact(&mut content[start..])?;
                self::line(&mut reader)?;
                if size == 0 {
                    break;
                }
            }
        }
        let arrived = Arrived { method: method.to_owned(), target: target.to_owned(), fields, content, connection };
        kept.lock().expect("no thread panics with it").push(arrived.clone());
        let Some(response) = respond(&arrived) else { return Ok(()) };
        writer.write_all(&response)?;
    }
}

/// Returns a response without more than a cookie.
fn empty(request: &Arrived) -> Option<Vec<u8>> {
    let body = if request.method == "HEAD" { "" } else { "{}" };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: visit=1\r\nContent-Length: 2\r\n\r\n";
    Some(format!("{head}{body}").into_bytes())
}

fn line(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())
}
