//! Names of servers that are looked up again while a run lasts, since their addresses may change.

use super::destination::Destination;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use torr_net::Address;

/// Returns the addresses of the server of an origin; otherwise why there are none.
type Resolve = dyn Fn(&str) -> Result<Vec<Address>, String> + Send + Sync;

/// The addresses of servers, each for a limited time. A thread of its own looks up a name, and the addresses before are used meanwhile.
pub(super) struct Renewal {
    /// The time after which the addresses of a server are looked up again.
    after: Duration,
    resolve: Box<Resolve>,
    /// By the positions of the servers.
    entries: Mutex<HashMap<usize, Entry>>,
}

struct Entry {
    /// At least one.
    addresses: Vec<Address>,
    /// When they were looked up.
    at: Instant,
    /// Whether they are being looked up again.
    is_pending: bool,
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewal").field("after", &self.after).finish_non_exhaustive()
    }
}

impl Renewal {
    pub fn new(
        after: Duration,
        resolve: impl Fn(&str) -> Result<Vec<Address>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { after, resolve: Box::new(resolve), entries: Mutex::default() }
    }

    /// Returns the address for the n-th connection to a server, and begins to look up its name where it is time to.
    pub fn address(self: &Arc<Self>, position: usize, server: &Destination, n: usize) -> Option<Address> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let first = || Entry { addresses: server.addresses.clone(), at: Instant::now(), is_pending: false };
        let entry = entries.entry(position).or_insert_with(first);
        if !entry.is_pending && entry.at.elapsed() >= self.after {
            let (renewal, origin) = (Arc::clone(self), server.target.origin());
            let look_up = move || renewal.look_up(position, &origin);
            // Without a thread the next connection tries again.
            entry.is_pending = thread::Builder::new().name("find-server".into()).spawn(look_up).is_ok();
        }
        let count = entry.addresses.len();
        entry.addresses.get(n.checked_rem(count)?).cloned()
    }

    fn look_up(&self, position: usize, origin: &str) {
        let found = (self.resolve)(origin);
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = entries.get_mut(&position) else { return };
        (entry.at, entry.is_pending) = (Instant::now(), false);
        // A name that is not found now may be again later.
        if let Some(addresses) = found.ok().filter(|addresses| !addresses.is_empty()) {
            entry.addresses = addresses;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::target::Target;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn address(last: usize) -> Address {
        Address::Tcp(format!("192.0.2.{last}:80").parse().expect("it is an address"))
    }

    fn server() -> Destination {
        let target = Target::parse("http://a.test:80").expect("it is a URL");
        Destination { target, addresses: vec![address(1), address(2)], tunnel: None, tls: None }
    }

    #[test]
    fn addresses_are_looked_up_again_after_their_time() {
        let times = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&times);
        let renewal = Arc::new(Renewal::new(Duration::ZERO, move |origin: &str| {
            assert_eq!(origin, "http://a.test:80");
            match counted.fetch_add(1, Ordering::SeqCst) {
                0 => Err("not found".to_owned()),
                1 => Ok(Vec::new()),
                _ => Ok(vec![address(9)]),
            }
        }));
        let server = server();
        assert_eq!(renewal.address(3, &server, 0), Some(address(1)), "the address before is used meanwhile");
        let deadline = Instant::now() + Duration::from_secs(30);
        while renewal.address(3, &server, 1) != Some(address(9)) {
            assert!(Instant::now() < deadline, "{} look-ups", times.load(Ordering::SeqCst));
            thread::yield_now();
        }
        assert!(times.load(Ordering::SeqCst) >= 3);
    }

    #[test]
    fn connections_take_the_addresses_in_turn_until_then() {
        let renewal = Arc::new(Renewal::new(Duration::from_secs(600), |_: &str| panic!("it is not time yet")));
        let taken: Vec<_> = (0..3).map(|n| renewal.address(0, &server(), n)).collect();
        assert_eq!(taken, [Some(address(1)), Some(address(2)), Some(address(1))]);
    }
}
