//! The kernel's time stamps of received bytes, which do not depend on when a program gets to read them.
//!
//! With SO_TIMESTAMPING the kernel notes the arrival of each packet in software, and hands over the time of the last one
//! with the bytes, on TCP sockets too. Source: Linux, Documentation/networking/timestamping.rst.

use crate::{Clock, Nanos};
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, TimestampingFlag, recvmsg, setsockopt, sockopt};
use rustix::time::{ClockId, clock_gettime};
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd};

/// Room for the control message of a time stamp: its header of 16 bytes, and three times of 16 bytes.
const CONTROL: usize = 64;
/// The longest time for reading three clocks in a row. What takes longer was interrupted and tells nothing.
const READING: Nanos = 5_000;
/// The largest change between two readings of the difference of the clocks that is no step of the wall clock: its rate is
/// adjusted by at most 500 ppm, and readings follow each other within a second.
const ADJUSTED: u64 = 500_000;

/// A time of the wall clock (CLOCK_REALTIME), in nanoseconds since the Unix epoch.
type UnixNanos = u64;

/// Enables time stamps of all bytes that a socket will receive. The kernel begins to take them some time after the first
/// socket on the machine has enabled them, so that early bytes may have none.
///
/// # Errors
/// Returns the errors of `setsockopt(2)`.
pub fn enable(socket: impl AsFd) -> io::Result<()> {
    let software = TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE | TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE;
    Ok(setsockopt(&socket, sockopt::Timestamping, &software)?)
}

/// Translates time stamps to times of a monotonic clock.
#[derive(Debug)]
pub struct Timestamps {
    clock: Clock,
    /// The wall clock's time at the monotonic clock's epoch. `None` while the wall clock is being stepped.
    epoch: Option<UnixNanos>,
    /// The wall clock's time at the monotonic clock's epoch, by the last reading.
    last: UnixNanos,
    /// The number of receives with a stamp that could be used, and of all.
    stamped: u64,
    received: u64,
}

impl Timestamps {
    /// Creates a translator to the times of `clock`.
    pub fn new(clock: Clock) -> Self {
        let epoch = (wall_clock() + crate::clock::nanos(clock.until_epoch())).saturating_sub(clock.now());
        Self { clock, epoch: Some(epoch), last: epoch, stamped: 0, received: 0 }
    }

    /// Compares the clocks: the wall clock is adjusted while a program runs, and may be stepped.
    #[inline]
    pub fn refresh(&mut self) {
        let before = self.clock.now();
        let wall = wall_clock();
        let after = self.clock.now();
        if after - before <= READING {
            let epoch = wall.saturating_sub(before.midpoint(after));
            // Of the bytes that are read next, some may have arrived before the step and some after it.
            self.epoch = (epoch.abs_diff(self.last) <= ADJUSTED).then_some(epoch);
            self.last = epoch;
        }
    }

    /// Receives available bytes, and the time at which the last of them arrived. `Some(0)` is the end of the stream, `None`
    /// that no bytes are available. Without a stamp the time is the present one.
    ///
    /// # Errors
    /// Returns the errors of `recvmsg(2)`, except `EAGAIN` and `EINTR`.
    #[inline]
    pub fn recv(&mut self, socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Option<(usize, Nanos)>> {
        let (mut control, mut buffers) = ([0; CONTROL], [IoSliceMut::new(buffer)]);
        let socket = socket.as_fd().as_raw_fd();
        let message = match recvmsg::<()>(socket, &mut buffers, Some(&mut control), MsgFlags::empty()) {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let now = self.clock.now();
        let arrived = message.cmsgs().ok().and_then(|mut messages| {
            messages.find_map(|message| match message {
                ControlMessageOwned::ScmTimestampsns(stamps) => {
                    Some(stamps.system.tv_sec() as u64 * 1_000_000_000 + stamps.system.tv_nsec() as u64)
                }
                _ => None,
            })
        });
        let arrived = arrived.zip(self.epoch).and_then(|(at, epoch)| at.checked_sub(epoch)).filter(|at| *at <= now);
        self.received += 1;
        self.stamped += u64::from(arrived.is_some());
        Ok(Some((message.bytes, arrived.unwrap_or(now))))
    }

    /// Returns whether nearly all that was received had a stamp.
    pub fn were_used(&self) -> bool {
        self.stamped > 0 && self.stamped >= self.received - self.received / 100
    }
}

fn wall_clock() -> UnixNanos {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_stamp_is_the_time_of_arrival_however_late_the_bytes_are_read() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("the listener is there");
        let (mut server, _) = listener.accept().expect("the client has connected");
        enable(&client).expect("Linux knows the option");
        let clock = Clock::start();
        let mut stamps = Timestamps::new(clock);
        let mut buffer = [0; 100];
        // The kernel begins with the stamps some time after they were enabled.
        let begun = clock.now();
        let mut times = Vec::new();
        while stamps.stamped < 3 {
            assert!(clock.now() - begun < 10_000_000_000, "no stamps after 10 s");
            let before = clock.now();
            server.write_all(b"bytes").expect("there is room");
            let sent = clock.now();
            while clock.now() < sent + 3_000_000 {
                std::hint::spin_loop();
            }
            stamps.refresh();
            let had = stamps.stamped;
            let (count, at) = stamps.recv(&client, &mut buffer).expect("a socket").expect("bytes are there");
            assert_eq!(count, 5);
            if stamps.stamped > had {
                times.push((before, at, sent));
            }
        }
        for (before, at, sent) in times {
            // On the loopback network bytes arrive within the send.
            assert!(
                before <= at + 20_000 && at <= sent + 1_000_000,
                "sent from {before} to {sent}, but arrived at {at}"
            );
        }
        drop(server);
        assert_eq!(stamps.recv(&client, &mut buffer).expect("the end").map(|(count, _)| count), Some(0));
    }

    #[test]
    fn a_step_of_the_wall_clock_is_noticed() {
        let mut stamps = Timestamps::new(Clock::start());
        stamps.last -= 1_000_000_000;
        // An interrupted reading changes nothing.
        while stamps.epoch.is_some() {
            stamps.refresh();
        }
        stamps.refresh();
        while stamps.epoch.is_none() {
            stamps.refresh();
        }
    }
}
