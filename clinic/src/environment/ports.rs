//! Free ports of the loopback address, below the range of local ports of outgoing connections.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};
use torr_test_support::error::Error;

/// Returns a port that no socket listens on.
///
/// # Errors
/// If all ports of the range are taken.
pub fn free() -> Result<u16, Error> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 21_000;
    const COUNT: u16 = 8_000;
    // Two clinics at a time begin at different ports.
    let begin = (std::process::id() % u32::from(COUNT)) as u16;
    for _ in 0..COUNT {
        let port = FIRST + (begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed))) % COUNT;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Error::failed("no free port from 21000 to 28999"))
}
