//! A link with a delay: packets from either of two TUN devices leave the other one after the delay.
//!
//! A relay of connections would hide the round-trip time from both kernels. A relay of packets does not.

use clap::Args;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use torr_test_support::error::Error;
use tun_rs::{DeviceBuilder, SyncDevice};

/// The size of the buffer for a packet, above the MTU of the devices.
const PACKET: usize = 2048;
/// The most packets on the link in one direction. More are dropped, as by a router's queue.
const QUEUE: usize = 20_000;

/// The options of a link.
#[derive(Args)]
pub struct Options {
    /// The names of the two devices, which are created but neither moved nor enabled
    #[arg(long, num_args = 2)]
    devices: Vec<String>,
    /// The delay of a packet in each direction
    #[arg(long, value_parser = humantime::parse_duration)]
    delay: Duration,
}

/// Relays until it is killed.
///
/// # Errors
/// If the devices cannot be created.
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
            // The device is down until it is enabled.
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn deliver(to: &SyncDevice, take: &mpsc::Receiver<(Instant, Vec<u8>)>, delay: Duration) {
    for (came, packet) in take {
        thread::sleep((came + delay).saturating_duration_since(Instant::now()));
        // A device that is down drops packets.
        let _ = to.send(&packet);
    }
}
