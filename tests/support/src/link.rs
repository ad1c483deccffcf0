//! A link with a delay and losses: packets from either of two TUN devices leave the other one after the delay.
//!
//! A relay of connections would hide the round-trip time from both kernels. A relay of packets does not.

use crate::error::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use tun_rs::{DeviceBuilder, SyncDevice};

/// The size of the buffer for a packet, above the MTU of the devices.
const PACKET: usize = 2048;
/// The most packets on the link in one direction. More are dropped, as by a router's queue.
const QUEUE: usize = 20_000;
/// How often the end of the link is looked for where no packet comes.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A link, which ends with this value.
pub struct Link {
    state: Arc<State>,
}

/// What becomes of packets.
struct State {
    /// Each packet of a direction whose number is a multiple of this is lost.
    lose_every: Option<u64>,
    is_cut: AtomicBool,
    is_over: AtomicBool,
}

impl Link {
    /// Makes the two devices in this thread's network namespace, neither moved nor enabled.
    ///
    /// # Errors
    /// If the devices cannot be made.
    pub fn start(names: [&str; 2], delay: Duration, lose_every: Option<u64>) -> Result<Self, Error> {
        let (is_cut, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let state = Arc::new(State { lose_every, is_cut, is_over });
        let [one, other] = [device(names[0])?, device(names[1])?].map(Arc::new);
        for (from, to) in [(Arc::clone(&one), Arc::clone(&other)), (other, one)] {
            let (put, take) = sync_channel(QUEUE);
            let of_thread = Arc::clone(&state);
            thread::spawn(move || receive(&from, &put, &of_thread));
            thread::spawn(move || deliver(&to, &take, delay));
        }
        Ok(Self { state })
    }

    /// Loses all packets from now on.
    pub fn cut(&self) {
        self.state.is_cut.store(true, Ordering::Relaxed);
    }

    /// Ends what [`Link::cut`] began.
    pub fn mend(&self) {
        self.state.is_cut.store(false, Ordering::Relaxed);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
    }
}

fn device(name: &str) -> Result<SyncDevice, Error> {
    let device = DeviceBuilder::new().name(name).enable(false).build_sync();
    let device = device.map_err(Error::at(format!("cannot make {name}")))?;
    device.set_nonblocking(true).map_err(Error::at(format!("cannot use {name}")))?;
    Ok(device)
}

fn receive(from: &SyncDevice, put: &SyncSender<(Instant, Vec<u8>)>, state: &State) {
    let (mut buffer, mut number) = ([0; PACKET], 0_u64);
    while !state.is_over.load(Ordering::Relaxed) {
        match from.recv(&mut buffer) {
            Ok(length) => {
                number += 1;
                let is_lost = state.lose_every.is_some_and(|every| number.is_multiple_of(every));
                if !is_lost && !state.is_cut.load(Ordering::Relaxed) {
                    drop(put.try_send((Instant::now(), buffer[..length].to_vec())));
                }
            }
            // No packet is there, or the device is down until it is enabled.
            Err(_) => {
                let events = poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&LOOK));
                if events.is_err() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }
}

fn deliver(to: &SyncDevice, take: &Receiver<(Instant, Vec<u8>)>, delay: Duration) {
    for (came, packet) in take {
        thread::sleep((came + delay).saturating_duration_since(Instant::now()));
        // A device that is down drops packets.
        let _ = to.send(&packet);
    }
}
