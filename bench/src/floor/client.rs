//! The floor of HTTP load: one thread, epoll, a closed loop; whatever is received counts as one response.
//!
//! That the count is right cannot be seen here, since nothing is parsed. It prints the bytes received as well, and the
//! driver refuses a run in which they are not the responses' number times one response's length.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use clap::Args;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Arguments of the floor's client.
#[derive(Args)]
pub struct FloorClient {
    /// Port on the loopback
    pub port: u16,
    /// Connections, each with one request in flight
    pub connections: u32,
    /// Length of the run in seconds
    pub seconds: f64,
    /// One connection per request
    #[arg(value_parser = ["close"])]
    pub mode: Option<String>,
    /// Path to ask for
    #[arg(long, default_value = "/")]
    pub path: String,
}

/// One connection of the closed loop.
struct Connection {
    socket: OwnedFd,
    /// The one request of a short connection is sent, or the connection is a lasting one.
    sent: bool,
}

/// The load: the server, the request and the connections.
struct Load {
    server: SocketAddr,
    request: String,
    /// One connection per request.
    close: bool,
    poll: OwnedFd,
    /// By descriptor.
    connections: Vec<Option<Connection>>,
}

impl Load {
    /// Opens one connection. A lasting one is connected and sends at once, a short one when it is writable.
    fn open(&mut self) -> io::Result<()> {
        let flags = if self.close { SocketFlags::NONBLOCK } else { SocketFlags::empty() };
        let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        match rustix::net::connect(&socket, &self.server) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(e) => return Err(e.into()),
        }
        sockopt::set_tcp_nodelay(&socket, true)?;
        let id = socket.as_raw_fd() as usize;
        let writable = if self.close { EventFlags::OUT } else { EventFlags::empty() };
        epoll::add(&self.poll, &socket, EventData::new_u64(id as u64), EventFlags::IN | EventFlags::ET | writable)?;
        if !self.close {
            rustix::net::send(&socket, self.request.as_bytes(), SendFlags::NOSIGNAL)?;
        }
        if id >= self.connections.len() {
            self.connections.resize_with((id + 1).next_power_of_two(), || None);
        }
        self.connections[id] = Some(Connection { socket, sent: !self.close });
        Ok(())
    }
}

/// Runs the load and prints what it did on one line.
pub fn run(args: &FloorClient) -> io::Result<()> {
    let close = args.mode.is_some();
    let mut load = Load {
        server: (Ipv4Addr::LOCALHOST, args.port).into(),
        request: super::request(&args.path, close),
        close,
        poll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
        connections: Vec::new(),
    };
    for _ in 0..args.connections {
        load.open()?;
    }
    let mut buffer = vec![0; 1 << 16].into_boxed_slice();
    let mut events = Vec::with_capacity(512);
    let patience = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let length = Duration::try_from_secs_f64(args.seconds).map_err(io::Error::other)?;
    let (mut responses, mut failed, mut bytes) = (0u64, 0u64, 0u64);
    let begin = Instant::now();
    while begin.elapsed() < length {
        events.clear();
        epoll::wait(&load.poll, spare_capacity(&mut events), Some(&patience))?;
        for event in &events {
            let (id, flags) = (event.data.u64() as usize, event.flags);
            let Some(connection) = &mut load.connections[id] else { continue };
            if !connection.sent && flags.contains(EventFlags::OUT) {
                connection.sent =
                    rustix::net::send(&connection.socket, load.request.as_bytes(), SendFlags::NOSIGNAL).is_ok();
            }
            if !flags.contains(EventFlags::IN) {
                continue;
            }
            let lost = match rustix::net::recv(&connection.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Err(Errno::AGAIN) => continue,
                Ok((got, _)) if got > 0 => {
                    responses += 1;
                    bytes += got as u64;
                    false
                }
                _ => true,
            };
            if close || lost {
                failed += u64::from(lost);
                load.connections[id] = None; // before the next is opened: the lowest free descriptor is the one in the cache
                load.open()?;
            } else {
                let _ = rustix::net::send(&connection.socket, load.request.as_bytes(), SendFlags::NOSIGNAL); // loss shows above
            }
        }
    }
    let wall = begin.elapsed().as_secs_f64();
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let cpu = cpu.tv_sec as f64 + cpu.tv_nsec as f64 * 1e-9;
    println!(
        "{:.0} requests/s, {:.3} CPU us/request, {:.2} of a CPU, {responses} requests, {failed} failed, {bytes} bytes",
        responses as f64 / wall,
        cpu / responses as f64 * 1e6,
        cpu / wall
    );
    Ok(())
}
