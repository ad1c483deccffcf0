//! The source addresses of connections: the system's choice, given addresses, or as many loopback addresses as are needed.

use std::net::{IpAddr, Ipv4Addr};
use torr_net::Address;

/// The last part of the last loopback address that is used. Each has ports of its own, 28,232 by Linux's default.
const LAST_LOOPBACK: u8 = 64;

/// The source addresses of one thread's connections.
#[derive(Debug)]
pub(crate) struct Sources {
    /// `None` is the system's choice.
    list: Vec<Option<IpAddr>>,
    /// Whether each connection takes the next one, or only one that finds no port.
    in_turn: bool,
    at: usize,
    used: usize,
}

impl Sources {
    pub fn new<'a>(given: &[IpAddr], mut destinations: impl Iterator<Item = &'a Address>) -> Self {
        let in_turn = !given.is_empty();
        let mut list: Vec<_> = given.iter().copied().map(Some).collect();
        if !in_turn {
            list.push(None);
            if destinations.all(|to| to.tcp().is_some_and(|to| to.is_ipv4() && to.ip().is_loopback())) {
                list.extend((2..=LAST_LOOPBACK).map(|n| Some(Ipv4Addr::new(127, 0, 0, n).into())));
            }
        }
        Self { list, in_turn, at: 0, used: 0 }
    }

    /// Begins with another address for each thread, by its number.
    #[must_use]
    pub fn starting_at(self, number: usize) -> Self {
        let at = if self.in_turn { number % self.list.len() } else { 0 };
        Self { at, ..self }
    }

    /// Returns the number of source addresses, the system's choice included.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the number of source addresses that have been used.
    pub fn used(&self) -> usize {
        self.used
    }

    /// The one for the next connection.
    pub fn next(&mut self) -> Option<IpAddr> {
        self.used = self.used.max(self.at + 1);
        let source = self.list[self.at];
        if self.in_turn {
            self.advance();
        }
        source
    }

    /// The last one has no port left.
    pub fn ran_short(&mut self) {
        if !self.in_turn {
            self.advance();
        }
    }

    /// After the last comes the first again, whose ports may be free by then.
    fn advance(&mut self) {
        self.at = (self.at + 1) % self.list.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(address: &str) -> Address {
        Address::Tcp(address.parse().unwrap())
    }

    #[test]
    fn given_addresses_are_taken_in_turn() {
        let given: Vec<IpAddr> = vec!["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()];
        let mut sources = Sources::new(&given, [to("10.0.0.9:80")].iter());
        let taken: Vec<_> = (0..3).map(|_| sources.next()).collect();
        assert_eq!(taken, [Some(given[0]), Some(given[1]), Some(given[0])]);
        assert_eq!(sources.used(), 2);
        let mut of_second_thread = Sources::new(&given, [to("10.0.0.9:80")].iter()).starting_at(1);
        assert_eq!(of_second_thread.next(), Some(given[1]));
        let mut of_system = Sources::new(&[], [to("127.0.0.1:80")].iter()).starting_at(1);
        assert_eq!(of_system.next(), None, "further loopback addresses are for want of ports");
    }

    #[test]
    fn further_loopback_addresses_only_when_ports_run_short() {
        let mut sources = Sources::new(&[], [to("127.0.0.1:80")].iter());
        assert_eq!((sources.next(), sources.next(), sources.used()), (None, None, 1));
        sources.ran_short();
        assert_eq!((sources.next(), sources.used()), (Some("127.0.0.2".parse().unwrap()), 2));
        (2..=LAST_LOOPBACK).for_each(|_| sources.ran_short());
        assert_eq!(sources.next(), None, "after the last comes the first again");
        let mut elsewhere = Sources::new(&[], [to("10.0.0.9:80")].iter());
        elsewhere.ran_short();
        assert_eq!((elsewhere.next(), elsewhere.len()), (None, 1));
    }
}
