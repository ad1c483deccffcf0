//! One request to a server before it is measured: only servers that give the same page can be compared.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::error::Error;
use crate::floor::request;

/// Length in bytes of a server's answer, head and page; an error if it is not the page that it is to give.
pub fn answer_length(port: u16, path: &str, page: &str, close: bool) -> Result<u64, Error> {
    let mut answer = Vec::new();
    let mut talk = || -> std::io::Result<()> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(request(path, close).as_bytes())?;
        let mut buffer = [0; 4096];
        while !answer.ends_with(page.as_bytes()) {
            match stream.read(&mut buffer)? {
                0 => break,
                got => answer.extend_from_slice(&buffer[..got]),
            }
        }
        Ok(())
    };
    talk().map_err(Error::at(format!("GET {path}")))?;
    match answer.starts_with(b"HTTP/1.1 200 ") && answer.ends_with(page.as_bytes()) {
        true => Ok(answer.len() as u64),
        false => Err(Error::failed(format!("GET {path} did not give the page {page} with status 200"))),
    }
}
