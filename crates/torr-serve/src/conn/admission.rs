//! The limits of open connections, in all and per address, which all workers share.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The limits of open connections.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionLimits(Arc<Limits>);

#[derive(Debug)]
struct Limits {
    /// The number of connections that may be open.
    #[cfg(feature = "http3")]
    total: usize,
    /// The number of connections that may still be opened.
    left: AtomicUsize,
    per_address: Option<AddressCounts>,
}

/// The right of one connection to be open, which is released when this is dropped.
#[derive(Debug)]
pub(crate) struct Admission {
    limits: ConnectionLimits,
    /// The address that the connection is counted for.
    address: Option<IpAddr>,
}

/// A limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitReached {
    /// The limit of all connections.
    Total,
    /// The limit of connections of the peer's address.
    Address,
}

/// The number of connections of each address that has any.
#[derive(Debug)]
struct AddressCounts {
    most: usize,
    hasher: RandomState,
    /// Shards by hash, so that workers seldom wait for each other.
    shards: [Mutex<HashMap<IpAddr, usize>>; SHARDS],
}

const SHARDS: usize = 32;

impl ConnectionLimits {
    /// Returns a limit of all connections without one per address.
    #[cfg(test)]
    pub fn of_all(total: usize) -> Self {
        Self::new(total, 0)
    }

    /// Returns limits of all connections and of those of one address; 0 is no limit per address.
    pub fn new(total: usize, per_address: usize) -> Self {
        let counts = || AddressCounts { most: per_address, hasher: RandomState::new(), shards: Default::default() };
        let per_address = (per_address > 0).then(counts);
        let limits = Limits {
            #[cfg(feature = "http3")]
            total,
            left: AtomicUsize::new(total),
            per_address,
        };
        Self(Arc::new(limits))
    }

    /// Returns the number of connections that may be open, and that of one address, if it is limited.
    #[cfg(feature = "http3")]
    pub fn most(&self) -> (usize, Option<usize>) {
        (self.0.total, self.0.per_address.as_ref().map(|counts| counts.most))
    }

    /// Admits a connection of a peer. `None` is a peer without a limit per address: one on a Unix socket, or a trusted proxy,
    /// which has the connections of many clients.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn admit(&self, peer: Option<IpAddr>) -> Result<Admission, LimitReached> {
        let left = &self.0.left;
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
            .map_err(|_| LimitReached::Total)?;
        let mut admission = Admission { limits: self.clone(), address: None };
        if let Some(peer) = peer {
            admission.charge(peer)?;
        }
        Ok(admission)
    }
}

impl Admission {
    /// Counts the connection for another address from now on: that of a client behind a proxy, once it is known.
    ///
    /// # Errors
    /// If the address has as many connections as it may have.
    pub fn charge(&mut self, address: IpAddr) -> Result<(), LimitReached> {
        let Some(counts) = &self.limits.0.per_address else { return Ok(()) };
        let network = network(address);
        if self.address != Some(network) {
            counts.add(network)?;
            if let Some(former) = self.address.replace(network) {
                counts.remove(former);
            }
        }
        Ok(())
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        if let (Some(counts), Some(address)) = (&self.limits.0.per_address, self.address) {
            counts.remove(address);
        }
        self.limits.0.left.fetch_add(1, Ordering::Relaxed);
    }
}

impl AddressCounts {
    fn add(&self, address: IpAddr) -> Result<(), LimitReached> {
        self.with(address, |shard| {
            let count = shard.entry(address).or_insert(0);
            if *count >= self.most {
                return Err(LimitReached::Address);
            }
            *count += 1;
            Ok(())
        })
    }

    fn remove(&self, address: IpAddr) {
        self.with(address, |shard| {
            if let Entry::Occupied(mut count) = shard.entry(address) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
        });
    }

    fn with<T>(&self, address: IpAddr, work: impl FnOnce(&mut HashMap<IpAddr, usize>) -> T) -> T {
        let shard = self.hasher.hash_one(address) as usize % SHARDS;
        // Nothing panics while the lock is held.
        work(&mut self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns what counts as one address: an address of IPv4, or an IPv6 network of 64 bits, in which a host can take as many
/// addresses as it likes (RFC 4291, section 2.5.1).
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

    fn held(limits: &ConnectionLimits) -> usize {
        let counts = limits.0.per_address.as_ref().expect("there is a limit per address");
        counts.shards.iter().map(|shard| shard.lock().expect("nobody has panicked").len()).sum()
    }

    #[test]
    fn an_admission_is_released_when_it_is_dropped() {
        let limits = ConnectionLimits::of_all(2);
        let (one, two) = (limits.admit(None), limits.clone().admit(ip("::1")));
        assert!(one.is_ok() && two.is_ok());
        assert_eq!(limits.admit(None).err(), Some(LimitReached::Total));
        drop(one);
        assert!(limits.admit(None).is_ok());
    }

    #[test]
    fn an_address_has_as_many_connections_as_its_limit() {
        let limits = ConnectionLimits::new(10, 2);
        let mut taken: Vec<_> = (0..2).map(|_| limits.admit(ip("10.0.0.1")).expect("there is room")).collect();
        assert_eq!(limits.admit(ip("10.0.0.1")).err(), Some(LimitReached::Address));
        assert_eq!(limits.admit(ip("::ffff:10.0.0.1")).err(), Some(LimitReached::Address));
        assert!(limits.admit(ip("10.0.0.2")).is_ok() && limits.admit(None).is_ok());
        taken.pop();
        assert!(limits.admit(ip("10.0.0.1")).is_ok());
        // A refused connection does not count among all.
        let others: Vec<_> = (0..9).map(|_| limits.admit(None).expect("there is room")).collect();
        assert_eq!(limits.admit(None).err(), Some(LimitReached::Total));
        drop((taken, others));
        assert_eq!(held(&limits), 0);
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let limits = ConnectionLimits::new(10, 1);
        let _one = limits.admit(ip("2001:db8::1"));
        assert_eq!(limits.admit(ip("2001:db8::ffff:ffff:ffff:ffff")).err(), Some(LimitReached::Address));
        assert!(limits.admit(ip("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn an_admission_can_be_counted_for_another_address() {
        let limits = ConnectionLimits::new(10, 1);
        let mut first = limits.admit(None).expect("there is room");
        let mut second = limits.admit(None).expect("there is room");
        assert_eq!(first.charge(ip("10.0.0.1").unwrap()), Ok(()));
        assert_eq!(first.charge(ip("10.0.0.1").unwrap()), Ok(()));
        assert_eq!(second.charge(ip("10.0.0.1").unwrap()), Err(LimitReached::Address));
        assert_eq!(first.charge(ip("10.0.0.2").unwrap()), Ok(()));
        assert_eq!(second.charge(ip("10.0.0.1").unwrap()), Ok(()));
        drop((first, second));
        assert_eq!(held(&limits), 0);
    }

    #[test]
    fn workers_share_the_limit() {
        let limits = ConnectionLimits::new(1000, 7);
        let work = |limits: ConnectionLimits| {
            move || (0..100).filter_map(|_| limits.admit(ip("10.0.0.1")).ok()).collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..4).map(|_| std::thread::spawn(work(limits.clone()))).collect();
        let taken: Vec<_> = workers.into_iter().flat_map(|worker| worker.join().expect("it does not panic")).collect();
        assert_eq!(taken.len(), 7);
        drop(taken);
        assert_eq!(held(&limits), 0);
    }
}
