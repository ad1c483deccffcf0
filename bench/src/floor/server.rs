//! The floor of HTTP service: one thread, epoll, and a fixed response to every blank line that arrives.
//!
//! It holds back nothing that a real server could do better, except batching: one receive and one send per request, one
//! accept per listener event, and no epoll registration for a connection that its first response ends.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use clap::Args;
use memchr::memmem::Finder;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};

use super::PAGE;

/// Arguments of the floor's server.
#[derive(Args)]
pub struct FloorServer {
    /// An address such as 127.0.0.1:9000, or a port on the loopback
    pub listen: String,
    /// `close` after each response; `http10` announces keep-alive, which ab needs
    #[arg(value_parser = ["close", "http10"])]
    pub mode: Option<String>,
}

/// Epoll data of the listener; connections have their descriptor's number.
const LISTENER: u64 = u64::MAX;

/// What a connection gets, and what becomes of it then.
struct Service<W> {
    response: Vec<u8>,
    close: bool,
    blank_line: Finder<'static>,
    buffer: Box<[u8]>,
    /// The work that is done before each response.
    work: W,
}

impl<W: FnMut()> Service<W> {
    fn new(mode: Option<&str>, work: W) -> Self {
        let connection = match mode {
            Some("close") => "Connection: close\r\n",
            Some(_) => "Connection: keep-alive\r\n",
            None => "",
        };
        let response = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nContent-Type: text/html\r\nServer: floor\r\n\
             Date: Fri, 20 Nov 2026 08:00:00 GMT\r\n{connection}\r\n{PAGE}",
            PAGE.len()
        );
        Service {
            response: response.into_bytes(),
            close: mode == Some("close"),
            blank_line: Finder::new(b"\r\n\r\n"),
            buffer: vec![0; 1 << 16].into(),
            work,
        }
    }

    /// Responds to what has arrived on a connection; false where that ended it.
    fn serve(&mut self, connection: BorrowedFd<'_>) -> bool {
        let got = match rustix::net::recv(connection, &mut self.buffer[..], RecvFlags::empty()) {
            Ok((got, _)) => got,
            Err(e) => return e == Errno::AGAIN,
        };
        for _ in self.blank_line.find_iter(&self.buffer[..got]) {
            (self.work)();
            let _ = rustix::net::send(connection, &self.response, SendFlags::NOSIGNAL); // a lost peer shows at the next receive
        }
        got > 0 && !self.close
    }
}

/// Serves until killed.
pub fn run(args: &FloorServer) -> io::Result<()> {
    serve(&args.listen, args.mode.as_deref(), || ())
}

/// Serves until killed, and does some work before each response.
pub fn serve(address: &str, mode: Option<&str>, work: impl FnMut()) -> io::Result<()> {
    let mut service = Service::new(mode, work);
    let listener = listen(address)?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&poll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?; // level-triggered: one accept per event
    let mut connections: Vec<Option<OwnedFd>> = Vec::new(); // by descriptor
    let mut events = Vec::with_capacity(512);
    loop {
        events.clear();
        epoll::wait(&poll, spare_capacity(&mut events), None)?;
        for event in &events {
            let id = event.data.u64();
            if id != LISTENER {
                let slot = &mut connections[id as usize];
                if slot.as_ref().is_some_and(|c| !service.serve(c.as_fd())) {
                    *slot = None;
                }
                continue;
            }
            let Ok(connection) = rustix::net::accept_with(&listener, SocketFlags::NONBLOCK) else { continue };
            if !service.serve(connection.as_fd()) {
                continue; // served and closed without ever being registered
            }
            let id = connection.as_raw_fd() as usize;
            epoll::add(&poll, &connection, EventData::new_u64(id as u64), EventFlags::IN | EventFlags::ET)?;
            if id >= connections.len() {
                connections.resize_with((id + 1).next_power_of_two(), || None);
            }
            connections[id] = Some(connection);
        }
    }
}

/// Opens the listener; TCP_NODELAY on it is inherited by what it accepts, which saves a system call per connection.
fn listen(address: &str) -> io::Result<OwnedFd> {
    let address: SocketAddr = match address.parse::<u16>() {
        Ok(port) => (Ipv4Addr::LOCALHOST, port).into(),
        Err(_) => address.parse().map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("`{address}` is neither a port nor an ADDRESS:PORT"))
        })?,
    };
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let listener =
        rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&listener, true)?;
    sockopt::set_tcp_nodelay(&listener, true)?;
    rustix::net::bind(&listener, &address)?;
    rustix::net::listen(&listener, 4096)?;
    Ok(listener)
}
