//! The limits of connections, in all and per address, shared by all workers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// So many connections may be open at a time.
#[derive(Debug, Clone)]
pub(crate) struct Seats(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    free: AtomicUsize,
    addresses: Option<Addresses>,
}

/// The right to be open; given back when the connection ends.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Seats,
    /// Whom it is counted for.
    address: Option<IpAddr>,
}

/// Which limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// That of all connections.
    Total,
    /// That of the peer's address.
    Address,
}

/// How many connections each address has. Only those that have any are kept.
#[derive(Debug)]
struct Addresses {
    most: usize,
    hasher: RandomState,
    /// By hash, so that workers seldom wait for each other.
    parts: [Mutex<HashMap<IpAddr, usize>>; PARTS],
}

const PARTS: usize = 32;

impl Seats {
    /// With a limit of all only.
    #[cfg(test)]
    pub fn new(total: usize) -> Self {
        Self::with(total, 0)
    }

    /// So many in all, and of each address, unless that is 0.
    pub fn with(total: usize, per_address: usize) -> Self {
        let addresses = || Addresses { most: per_address, hasher: RandomState::new(), parts: Default::default() };
        let addresses = (per_address > 0).then(addresses);
        Self(Arc::new(Shared { free: AtomicUsize::new(total), addresses }))
    }

    /// A seat for a peer, if one is free. `None` is a peer that no limit per address applies to: one on a Unix socket, or a
    /// trusted proxy, which speaks for many.
    pub fn take(&self, peer: Option<IpAddr>) -> Result<Seat, Full> {
        let taken = self.0.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1));
        taken.map_err(|_| Full::Total)?;
        let mut seat = Seat { seats: self.clone(), address: None };
        if let Some(peer) = peer {
            seat.charge(peer)?;
        }
        Ok(seat)
    }
}

impl Seat {
    /// Counts it for this address from now on: for a client behind a proxy, once that has told who it is.
    pub fn charge(&mut self, address: IpAddr) -> Result<(), Full> {
        let Some(addresses) = &self.seats.0.addresses else { return Ok(()) };
        let network = network(address);
        if self.address != Some(network) {
            addresses.enter(network)?;
            if let Some(former) = self.address.replace(network) {
                addresses.leave(former);
            }
        }
        Ok(())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let (Some(addresses), Some(address)) = (&self.seats.0.addresses, self.address) {
            addresses.leave(address);
        }
        self.seats.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

impl Addresses {
    fn enter(&self, address: IpAddr) -> Result<(), Full> {
        self.with(address, |part| {
            let count = part.entry(address).or_insert(0);
            if *count >= self.most {
                return Err(Full::Address);
            }
            *count += 1;
            Ok(())
        })
    }

    fn leave(&self, address: IpAddr) {
        self.with(address, |part| {
            if let Entry::Occupied(mut count) = part.entry(address) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        });
    }

    fn with<T>(&self, address: IpAddr, work: impl FnOnce(&mut HashMap<IpAddr, usize>) -> T) -> T {
        let part = self.hasher.hash_one(address) as usize % PARTS;
        // Nothing panics while it is held.
        work(&mut self.parts[part].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What counts as one address: one of IPv4, or an IPv6 network of 64 bits, in which a host can take as many as it likes (RFC 4291,
/// section 2.5.1).
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64)).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().expect("it is an address"))
    }

    fn held(seats: &Seats) -> usize {
        let addresses = seats.0.addresses.as_ref().expect("there is a limit per address");
        addresses.parts.iter().map(|part| part.lock().expect("nobody has panicked").len()).sum()
    }

    #[test]
    fn a_seat_is_free_again_once_its_holder_has_gone() {
        let seats = Seats::new(2);
        let (one, two) = (seats.take(None), seats.clone().take(ip("::1")));
        assert!(one.is_ok() && two.is_ok());
        assert_eq!(seats.take(None).err(), Some(Full::Total));
        drop(one);
        assert!(seats.take(None).is_ok());
    }

    #[test]
    fn an_address_has_so_many_seats_and_no_more() {
        let seats = Seats::with(10, 2);
        let mut taken: Vec<_> = (0..2).map(|_| seats.take(ip("10.0.0.1")).expect("there is room")).collect();
        assert_eq!(seats.take(ip("10.0.0.1")).err(), Some(Full::Address));
        assert_eq!(seats.take(ip("::ffff:10.0.0.1")).err(), Some(Full::Address));
        assert!(seats.take(ip("10.0.0.2")).is_ok() && seats.take(None).is_ok());
        taken.pop();
        assert!(seats.take(ip("10.0.0.1")).is_ok());
        // Who was refused has cost no seat of those in all.
        let others: Vec<_> = (0..9).map(|_| seats.take(None).expect("there is room")).collect();
        assert_eq!(seats.take(None).err(), Some(Full::Total));
        drop((taken, others));
        assert_eq!(held(&seats), 0);
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let seats = Seats::with(10, 1);
        let _one = seats.take(ip("2001:db8::1"));
        assert_eq!(seats.take(ip("2001:db8::ffff:ffff:ffff:ffff")).err(), Some(Full::Address));
        assert!(seats.take(ip("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn a_seat_can_be_counted_for_another() {
        let seats = Seats::with(10, 1);
        let mut first = seats.take(None).expect("there is room");
        let mut second = seats.take(None).expect("there is room");
        assert_eq!(first.charge(ip("10.0.0.1").unwrap()), Ok(()));
        assert_eq!(first.charge(ip("10.0.0.1").unwrap()), Ok(()));
        assert_eq!(second.charge(ip("10.0.0.1").unwrap()), Err(Full::Address));
        assert_eq!(first.charge(ip("10.0.0.2").unwrap()), Ok(()));
        assert_eq!(second.charge(ip("10.0.0.1").unwrap()), Ok(()));
        drop((first, second));
        assert_eq!(held(&seats), 0);
    }

    #[test]
    fn workers_share_the_limit() {
        let seats = Seats::with(1000, 7);
        let work = |seats: Seats| move || (0..100).filter_map(|_| seats.take(ip("10.0.0.1")).ok()).collect::<Vec<_>>();
        let workers: Vec<_> = (0..4).map(|_| std::thread::spawn(work(seats.clone()))).collect();
        let taken: Vec<_> = workers.into_iter().flat_map(|worker| worker.join().expect("it does not panic")).collect();
        assert_eq!(taken.len(), 7);
        drop(taken);
        assert_eq!(held(&seats), 0);
    }
}
