//! A client that sends requests one after another over one connection, keeps cookies, and opens the connection anew where it ended.

use crate::request::Request;
use crate::response::Response;
use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The longest silence of a server. The slowest program waits for 3 s by itself.
const SILENCE: Duration = Duration::from_secs(10);

/// The opcodes of frames (RFC 6455, section 11.8).
const TEXT: u8 = 1;
const CLOSE: u8 = 8;

pub struct Client {
    server: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
    cookies: Vec<(String, String)>,
}

impl Client {
    pub fn new(server: SocketAddr) -> Self {
        Self { server, connection: None, cookies: Vec::new() }
    }

    /// Sends a request and reads its response.
    pub fn exchange(&mut self, request: &Request) -> Response {
        let mut response = self.attempt(request).unwrap_or_else(|error| Response {
            fault: Some(format!("no exchange: {}", error.kind())),
            ..Response::default()
        });
        self.keep_cookies(&response);
        let ends = response.field("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        if ends || request.is_last() {
            response.is_closed = self.is_at_end();
        }
        let is_over = ends || response.fault.is_some() || response.status() == 101 || request.until.is_some();
        if is_over || request.is_last() {
            self.connection = None;
        }
        response
    }

    fn attempt(&mut self, request: &Request) -> io::Result<Response> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let socket = TcpStream::connect(self.server)?;
                socket.set_nodelay(true)?;
                socket.set_read_timeout(Some(SILENCE))?;
                BufReader::new(socket)
            }
        };
        connection.get_mut().write_all(&request.encode(&self.cookies))?;
        let mut response = Response::read(&mut connection, request.method == "HEAD", request.until.as_deref());
        if let (101, Some(messages)) = (response.status(), &request.messages) {
            for (text, expected) in messages {
                connection.get_mut().write_all(&frame(TEXT, text.as_bytes()))?;
                let mut frame = read_frame(&mut connection)?;
                while !String::from_utf8_lossy(&frame).contains(expected) {
                    frame = read_frame(&mut connection)?;
                }
                response.messages.push(frame);
            }
            // A close frame ends the WebSocket. What the program sends before it sees the frame depends on its speed.
            connection.get_mut().write_all(&frame(CLOSE, &1000u16.to_be_bytes()))?;
            let mut last = read_frame(&mut connection).unwrap_or_default();
            while last.first().is_some_and(|&first| first & 0xf != CLOSE) {
                last = read_frame(&mut connection).unwrap_or_default();
            }
            response.messages.push(last);
        }
        self.connection = Some(connection);
        Ok(response)
    }

    fn is_at_end(&mut self) -> bool {
        let mut byte = [0];
        self.connection.as_mut().is_some_and(|connection| matches!(connection.read(&mut byte), Ok(0)))
    }

    fn keep_cookies(&mut self, response: &Response) {
        for (_, value) in response.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            let Some((name, value)) = value.split(';').next().and_then(|pair| pair.split_once('=')) else { continue };
            self.cookies.retain(|(known, _)| known != name);
            self.cookies.push((name.to_owned(), value.to_owned()));
        }
    }
}

/// Returns a client's frame, masked by zeros (RFC 6455, section 5.3), of less than 126 bytes.
fn frame(opcode: u8, content: &[u8]) -> Vec<u8> {
    let content = &content[..content.len().min(125)];
    let mut frame = vec![0x80 | opcode, 0x80 | content.len() as u8, 0, 0, 0, 0];
    frame.extend_from_slice(content);
    frame
}

/// Reads a server's frame: its first byte, and its content.
fn read_frame(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = [0; 2];
    from.read_exact(&mut head)?;
    let length = match head[1] {
        126 => {
            let mut length = [0; 2];
            from.read_exact(&mut length)?;
            usize::from(u16::from_be_bytes(length))
        }
        127 => return Err(io::ErrorKind::InvalidData.into()),
        length => usize::from(length),
    };
    let mut content = vec![0; length];
    from.read_exact(&mut content)?;
    content.insert(0, head[0]);
    Ok(content)
}
