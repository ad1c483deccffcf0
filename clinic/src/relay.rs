//! A link with a delay, as a process of its own.

use clap::Args;
use std::thread;
use std::time::Duration;
use torr_test_support::error::Error;
use torr_test_support::link::Link;

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
    let [one, other] = &options.devices[..] else { return Err(Error::Usage("a link has two devices".into())) };
    let _link = Link::start([one, other], options.delay, None)?;
    loop {
        thread::park();
    }
}
