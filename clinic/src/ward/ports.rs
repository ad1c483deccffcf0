//! Free ports of the loopback address, below those that short connections go through by the thousand.

use crate::error::Error;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// A port that nobody listens on.
///
/// # Errors
/// If there is none.
pub fn free() -> Result<u16, Error> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 21_000;
    const MANY: u16 = 8_000;
    // Two clinics at a time begin at different ones.
    let begin = (std::process::id() % u32::from(MANY)) as u16;
    for _ in 0..MANY {
        let port = FIRST + (begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed))) % MANY;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Error::failed("no free port from 21000 to 28999"))
}
