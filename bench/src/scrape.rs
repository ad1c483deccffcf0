//! A client that requests a server's metrics all the time, as a monitoring system does now and then.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::floor::request;
use torr_test_support::error::Error;

/// Far more often than any monitoring system scrapes.
const EVERY: Duration = Duration::from_millis(100);

/// Scrapes until it is stopped or dropped.
pub struct Scraper {
    stop: Sender<()>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl Scraper {
    /// Begins to ask.
    pub fn start(port: u16) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            loop {
                scrape(port)?;
                if stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                    return Ok(());
                }
            }
        });
        Scraper { stop, thread }
    }

    /// Ends it; an error if it did not get its metrics each time.
    pub fn stop(self) -> Result<(), Error> {
        drop(self.stop);
        match self.thread.join() {
            Ok(scraped) => scraped.map_err(Error::at("GET /metrics")),
            Err(_) => Err(Error::failed("the thread that asks for metrics has panicked")),
        }
    }
}

fn scrape(port: u16) -> std::io::Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(request("/metrics", true).as_bytes())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    match response.starts_with(b"HTTP/1.1 200 ") {
        true => Ok(()),
        false => Err(std::io::Error::other("no metrics")),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Responds on one connection.
    fn server(response: &'static str) -> (u16, JoinHandle<std::io::Result<()>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let answering = move || {
            let (mut stream, _) = listener.accept()?;
            assert!(stream.read(&mut [0; 1024])? > 0);
            stream.write_all(response.as_bytes())
        };
        (port, thread::spawn(answering))
    }

    #[test]
    fn metrics_are_scraped_and_their_absence_is_an_error() {
        for (response, good) in [("HTTP/1.1 200 OK\r\n\r\nup 1\n", true), ("HTTP/1.1 404 Not Found\r\n\r\n", false)] {
            let (port, server) = server(response);
            assert_eq!(scrape(port).is_ok(), good, "{response}");
            server.join().expect("no panic").expect("it is scraped");
        }
    }
}
