//! A response over HTTP/1.1, read to its end and kept as it came.

use std::io::{self, BufRead, Read};

/// A response as it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The status lines of responses before the final one.
    pub interim: Vec<String>,
    pub status_line: String,
    /// Names and values, in their order and case.
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub trailers: Vec<(String, String)>,
    /// What came over the connection once it had been upgraded.
    pub messages: Vec<Vec<u8>>,
    /// Why the response has no end: the connection ended, or was silent.
    pub fault: Option<String>,
    /// Whether the server closed the connection behind the response; looked at only where it was announced.
    pub is_closed: bool,
}

impl Response {
    /// Returns the value of the first field of this name, in lower case.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn status(&self) -> u16 {
        self.status_line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
    }

    /// Reads a response to the end of its body, or until its body has `until`. What is wrong with it is kept as its fault.
    pub fn read(from: &mut impl BufRead, to_head: bool, until: Option<&str>) -> Self {
        let mut response = Self::default();
        if let Err(error) = response.fill(from, to_head, until) {
            response.fault = Some(error.kind().to_string());
        }
        response
    }

    fn fill(&mut self, from: &mut impl BufRead, to_head: bool, until: Option<&str>) -> io::Result<()> {
        loop {
            self.status_line = line(from)?;
            self.fields = section(from)?;
            if !(100..200).contains(&self.status()) || self.status() == 101 {
                break;
            }
            self.interim.push(std::mem::take(&mut self.status_line));
        }
        if to_head || matches!(self.status(), 101 | 204 | 304) {
            return Ok(());
        }
        let is_chunked = self.field("transfer-encoding").is_some_and(|value| value.ends_with("chunked"));
        let length = self.field("content-length").and_then(|value| value.parse::<u64>().ok());
        match (is_chunked, length) {
            (true, _) => self.fill_chunks(from, until),
            (false, Some(length)) => {
                from.take(length).read_to_end(&mut self.body)?;
                let is_whole = self.body.len() as u64 == length;
                if is_whole { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
            }
            (false, None) => from.read_to_end(&mut self.body).map(drop),
        }
    }

    fn fill_chunks(&mut self, from: &mut impl BufRead, until: Option<&str>) -> io::Result<()> {
        loop {
            let size = line(from)?;
            let size = u64::from_str_radix(&size, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            if size == 0 {
                self.trailers = section(from)?;
                return Ok(());
            }
            let before = self.body.len() as u64;
            from.take(size).read_to_end(&mut self.body)?;
            if self.body.len() as u64 != before + size || !line(from)?.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(at) = until.and_then(|text| find(&self.body, text.as_bytes())) {
                // A chunk may bring more than the text.
                self.body.truncate(at);
                return Ok(());
            }
        }
    }
}

/// Returns the position behind a text.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len().max(1)).position(|window| window == text).map(|at| at + text.len())
}

/// Reads a line without its end.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.read_until(b'\n', &mut bytes)?;
    match bytes.strip_suffix(b"\r\n") {
        Some(text) => Ok(String::from_utf8_lossy(text).into_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Reads field lines up to the empty line.
fn section(from: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut fields = Vec::new();
    loop {
        let line = line(from)?;
        if line.is_empty() {
            return Ok(fields);
        }
        let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
        fields.push((name.to_owned(), value.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::Response;

    fn read(text: &str, until: Option<&str>) -> Response {
        Response::read(&mut text.as_bytes(), false, until)
    }

    #[test]
    fn chunks_and_trailers_are_read() {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nsum: 5\r\n\r\n";
        let response = read(text, None);
        assert_eq!(response.body, b"abcde");
        assert_eq!(response.trailers, [("sum".to_owned(), "5".to_owned())]);
        assert_eq!(response.fault, None);
        assert_eq!(read(text, Some("b")).body, b"ab");
    }

    #[test]
    fn a_body_that_is_cut_is_a_fault() {
        assert!(read("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc", None).fault.is_some());
        assert!(read("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nab", None).fault.is_some());
        assert!(read("", None).fault.is_some());
    }

    #[test]
    fn interim_responses_come_before() {
        let response = read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", None);
        assert_eq!((response.interim.len(), response.status(), response.fault), (1, 204, None));
    }
}
