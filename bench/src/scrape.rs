//! Somebody who asks for a server's metrics all the time, as a monitoring system does now and then.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::error::Error;
use crate::floor::request;

/// Far more often than any monitoring system asks.
const EVERY: Duration = Duration::from_millis(100);

/// Asks until it is told to stop, or dropped.
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
            Ok(asked) => asked.map_err(Error::at("GET /metrics")),
            Err(_) => Err(Error::failed("the thread that asks for metrics has panicked")),
        }
    }
}

fn scrape(port: u16) -> std::io::Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(request("/metrics", true).as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    match answer.starts_with(b"HTTP/1.1 200 ") {
        true => Ok(()),
        false => Err(std::io::Error::other("no metrics")),
    }
}
