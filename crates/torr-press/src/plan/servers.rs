//! The servers of a run by number: those of the plan, and behind them those that the run learns of while it runs.

use super::Plan;
use crate::servers::destination::Destination;
use crate::servers::learnt::LearntServers;
use torr_net::Address;
use torr_net::tls::TlsConfig;

/// The servers of a run. Number 0 is the plan's own, then come those of [`Plan::further`], then those that are learnt.
#[derive(Clone, Copy)]
pub(crate) struct Servers<'r> {
    plan: &'r Plan,
    learnt: Option<&'r LearntServers>,
}

impl<'r> Servers<'r> {
    /// Returns the servers of a plan.
    pub fn of(plan: &'r Plan) -> Self {
        Self { plan, learnt: plan.work.users().and_then(|users| users.learnt()) }
    }

    /// Returns whether there is only one so far.
    #[inline]
    pub fn is_one(&self) -> bool {
        self.plan.further.is_empty() && self.learnt.is_none_or(LearntServers::is_empty)
    }

    /// Returns whether there are several, or may be some time.
    #[inline]
    pub fn may_be_several(&self) -> bool {
        self.learnt.is_some() || !self.plan.further.is_empty()
    }

    /// Returns whether servers may be learnt of, each with TLS or without.
    pub fn may_be_learnt(&self) -> bool {
        self.learnt.is_some()
    }

    /// Returns how many were known before the run.
    pub fn known(&self) -> usize {
        1 + self.plan.further.len()
    }

    /// Returns the addresses of the server with this number.
    #[inline]
    pub fn addresses(&self, number: usize) -> &'r [Address] {
        match number {
            0 => &self.plan.addresses,
            _ => self.other(number).map_or(&self.plan.addresses, |other| &other.addresses),
        }
    }

    /// Returns the address for the connection at a position, counted in turn, to the server with this number.
    pub fn address(&self, number: usize, position: usize) -> Address {
        let renewed = || self.learnt?.renewed(number.checked_sub(self.known())?, position);
        renewed().unwrap_or_else(|| {
            let addresses = self.addresses(number);
            addresses[position % addresses.len()].clone()
        })
    }

    /// Returns the request that opens a tunnel to the server with this number, if there is a proxy.
    #[inline]
    pub fn tunnel(&self, number: usize) -> Option<&'r [u8]> {
        match number {
            0 => self.plan.tunnel.as_deref(),
            _ => self.other(number)?.tunnel.as_deref(),
        }
    }

    /// Returns the settings of TLS of the server with this number, if it has TLS.
    pub fn tls(&self, number: usize) -> Option<&'r TlsConfig> {
        match number {
            0 => self.plan.protocol.tls.as_ref(),
            _ => self.other(number)?.tls.as_ref(),
        }
    }

    /// Returns the name of the server with this number and the way to it, for messages.
    pub fn reached_by(&self, number: usize) -> String {
        let target = match number {
            0 => &self.plan.target,
            _ => self.other(number).map_or(&self.plan.target, |other| &other.target),
        };
        let target = target.host_and_port();
        match self.addresses(number).first() {
            Some(Address::Unix(path)) => format!("Unix socket {}", path.display()),
            Some(proxy) if self.tunnel(number).is_some() => format!("{target} through the proxy {proxy}"),
            _ => target,
        }
    }

    /// Returns the origins of all servers by their numbers, those that were learnt so far among them.
    pub fn origins(&self) -> Vec<String> {
        let others = (1..).map_while(|number| self.other(number)).map(|other| other.target.origin());
        std::iter::once(self.plan.target.origin()).chain(others).collect()
    }

    /// Returns the server with this number, which is not 0.
    fn other(&self, number: usize) -> Option<&'r Destination> {
        let further = &self.plan.further;
        match further.get(number - 1) {
            None => self.learnt?.get(number - 1 - further.len()),
            known => known,
        }
    }
}
