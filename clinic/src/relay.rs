//! A link with a delay: packets from either of two TUN devices come out of the other one after a while.
//!
//! A relay of connections would hide the way's length from both sides' kernels; one of packets is a long way.

use crate::error::Error;
use clap::Args;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tun_rs::{DeviceBuilder, SyncDevice};

/// Larger than any packet of these devices.
const PACKET: usize = 2048;
/// Packets under way in one direction; more are lost, as in any router's queue.
const QUEUE: usize = 20_000;

/// Which link.
#[derive(Args)]
pub struct Options {
    /// Names of the two devices, which are made, and left for somebody to move and enable
    #[arg(long, num_args = 2)]
    devices: Vec<String>,
    /// How long a packet takes, in either direction
    #[arg(long, value_parser = humantime::parse_duration)]
    delay: Duration,
}

/// Relays until it is killed.
///
/// # Errors
/// If the devices cannot be made.
pub fn run(options: &Options) -> Result<(), Error> {
    let devices: Vec<_> = options.devices.iter().map(|name| device(name)).collect::<Result<_, _>>()?;
    let [one, other] = &devices[..] else { return Err(Error::Usage("a link has two devices".into())) };
    thread::scope(|scope| {
        for (from, to) in [(one, other), (other, one)] {
            let (put, take) = mpsc::sync_channel(QUEUE);
            scope.spawn(move || receive(from, &put));
            scope.spawn(move || deliver(to, &take, options.delay));
        }
    });
    Ok(())
}

fn device(name: &str) -> Result<SyncDevice, Error> {
    DeviceBuilder::new().name(name).enable(false).build_sync().map_err(Error::at(format!("cannot make {name}")))
}

fn receive(from: &SyncDevice, put: &mpsc::SyncSender<(Instant, Vec<u8>)>) {
    let mut buffer = [0; PACKET];
    loop {
        match from.recv(&mut buffer) {
            Ok(length) => drop(put.try_send((Instant::now(), buffer[..length].to_vec()))),
            // It is down until somebody enables it.
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn deliver(to: &SyncDevice, take: &mpsc::Receiver<(Instant, Vec<u8>)>, delay: Duration) {
    for (came, packet) in take {
        thread::sleep((came + delay).saturating_duration_since(Instant::now()));
        // A device that is down loses what it is given, like any other.
        let _ = to.send(&packet);
    }
}
