//! One request and its answer over HTTP/1.1, on a connection of its own.

use super::RemoteError;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};
use torr_gauge::redact;
use torr_wire::response::{HeadCache, Observer, ResponseReader};
use torr_wire::{encode, response};

/// How long a connection may take to come about, and an answer to come.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer that is read: that of a machine with very many processes has a few megabytes.
const MOST: usize = 64 * 1024 * 1024;

/// Whom to ask.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Host and port.
    pub address: String,
    authorization: Option<Vec<u8>>,
}

/// What was answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub status: u16,
    pub text: String,
}

struct Body(Vec<u8>);

impl Observer for Body {
    const SEES_HEADS: bool = false;

    fn body(&mut self, piece: &[u8]) {
        self.0.extend_from_slice(piece);
    }
}

impl Exchange {
    /// Takes `host:port` and `http://host:port/anything`.
    pub fn new(address: &str, token: Option<&str>) -> Result<Self, RemoteError> {
        let bare = address.strip_prefix("http://").unwrap_or(address);
        let bare = bare.split('/').next().unwrap_or_default();
        let port = bare.rsplit_once(':').and_then(|(host, port)| port.parse::<u16>().ok().filter(|_| !host.is_empty()));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if port.is_none() || !plain(bare) || address.starts_with("https:") {
            return Err(RemoteError::Address(redact::url(address).into_owned()));
        }
        if token.is_some_and(|token| !plain(token)) {
            return Err(RemoteError::Token(bare.to_owned()));
        }
        let authorization = token.map(|token| format!("Bearer {token}").into_bytes());
        Ok(Self { address: bare.to_owned(), authorization })
    }

    pub fn get(&self, target: &str) -> Result<Answer, RemoteError> {
        let mut request = vec![];
        let mut fields: Vec<(&str, &[u8])> = vec![("Connection", b"close")];
        fields.extend(self.authorization.iter().map(|value| ("Authorization", value.as_slice())));
        encode::request(&mut request, "GET", target, self.address.as_bytes(), &fields, None);
        let failed = |error| RemoteError::Unreachable(self.address.clone(), error);
        let mut stream = self.connect().map_err(failed)?;
        stream.write_all(&request).map_err(failed)?;
        let (mut reader, mut memory, mut body) = (ResponseReader::default(), HeadCache::default(), Body(vec![]));
        let not_http = |error| RemoteError::NotHttp(self.address.clone(), error);
        let whole = |response: response::Response, body: Body| Answer {
            status: response.status,
            text: String::from_utf8_lossy(&body.0).into_owned(),
        };
        let (begin, mut piece) = (Instant::now(), vec![0; 64 * 1024]);
        loop {
            let length = stream.read(&mut piece).map_err(failed)?;
            let answer = match length {
                0 => reader.end().map_err(not_http)?,
                _ => reader.observe(&piece[..length], false, &mut memory, &mut body).map_err(not_http)?.1,
            };
            match answer {
                Some(response) => return Ok(whole(response, body)),
                None if length == 0 => return Err(failed(io::ErrorKind::UnexpectedEof.into())),
                None if body.0.len() > MOST || begin.elapsed() > PATIENCE => {
                    return Err(failed(io::ErrorKind::TimedOut.into()));
                }
                None => {}
            }
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(PATIENCE))?;
                    stream.set_write_timeout(Some(PATIENCE))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// What an answer that is not as wanted means.
    pub fn refused(&self, answer: &Answer) -> RemoteError {
        let address = self.address.clone();
        // It begins its refusals with its name.
        let line = answer.text.lines().next().and_then(|line| line.strip_prefix("torr watch: "));
        match (answer.status, line) {
            (401, _) => RemoteError::Token(address),
            (_, Some(line)) => RemoteError::Refused(address, redact::printable(line).into_owned()),
            _ => RemoteError::Stranger(address),
        }
    }
}
