//! Requests to a server before it is measured: only servers that give the same page can be compared.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::floor::request;
use torr_test_support::error::Error;

/// Length in bytes of a server's response, head and page; an error if it is not the page that it is to give.
pub fn response_length(port: u16, path: &str, page: &str, close: bool) -> Result<u64, Error> {
    let mut response = Vec::new();
    let mut talk = || -> std::io::Result<()> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(request(path, close).as_bytes())?;
        let mut buffer = [0; 4096];
        while !response.ends_with(page.as_bytes()) {
            match stream.read(&mut buffer)? {
                0 => break,
                got => response.extend_from_slice(&buffer[..got]),
            }
        }
        Ok(())
    };
    talk().map_err(Error::at(format!("GET {path}")))?;
    match response.starts_with(b"HTTP/1.1 200 ") && response.ends_with(page.as_bytes()) {
        true => Ok(response.len() as u64),
        false => Err(Error::failed(format!("GET {path} did not give the page {page} with status 200"))),
    }
}

/// The page that a server gives with status 200, for pages that are not always the same.
pub fn page(port: u16, path: &str) -> Result<String, Error> {
    let talk = || -> std::io::Result<(String, String)> {
        let mut stream = BufReader::new(TcpStream::connect((Ipv4Addr::LOCALHOST, port))?);
        stream.get_ref().set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.get_mut().write_all(request(path, true).as_bytes())?;
        let (mut status, mut length) = (String::new(), 0);
        stream.read_line(&mut status)?;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap_or(0);
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut page = Vec::new();
        stream.take(length).read_to_end(&mut page)?;
        Ok((status, String::from_utf8_lossy(&page).into_owned()))
    };
    let (status, page) = talk().map_err(Error::at(format!("GET {path}")))?;
    match status.starts_with("HTTP/1.1 200 ") {
        true => Ok(page),
        false => {
            let said: String = page.chars().take(200).collect();
            Err(Error::failed(format!("GET {path} gave {} {said}", status.trim_end())))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// What is read of a response whose connection stays open.
    fn read(response: &'static str) -> Result<String, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let server = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().expect("the probe connects");
            connection.write_all(response.as_bytes()).expect("the probe reads");
            // Until the probe is done: it must not wait for the end of the connection.
            let _ = connection.read_to_end(&mut Vec::new());
        });
        let page = page(port, "/");
        server.join().expect("the server has no reason to panic");
        page
    }

    #[test]
    fn a_page_ends_with_its_length() {
        let page = read("HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length: 4\r\n\r\n[1]\nbeyond");
        assert_eq!(page.expect("it has status 200"), "[1]\n");
        let page = read("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 3\r\n\r\nwhy");
        let message = page.expect_err("it has not").to_string();
        assert_eq!(message, "GET / gave HTTP/1.1 500 Internal Server Error why");
    }
}
