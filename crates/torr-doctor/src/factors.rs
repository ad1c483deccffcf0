//! The rules, in the order in which they are asked. Each looks for witnesses of one group of factors in what is known, makes
//! the experiment that would tell them from what looks alike, and gives a verdict or passes.
//!
//! The order matters: requests that fail say nothing of a server's speed, a generator that cannot keep up says nothing of
//! anything else, and what holds all requests back for a time (a quota, a limiter, a link) has to be known before it can be
//! asked what a server is busy with.

mod addresses;
mod connecting;
mod cpu;
mod delayed_ack;
mod disturbed;
mod failing;
mod generator;
mod held_back;
mod proxy;
mod rising;
mod waiting;

use crate::laboratory::Halt;
use crate::ward::Ward;
use torr_gauge::Verdict;

/// A rule: a verdict, or nothing if it is not this.
pub type Rule = fn(&mut Ward<'_>) -> Result<Option<Verdict>, Halt>;

/// All rules in their order.
pub const RULES: [Rule; 12] = [
    failing::ports,
    delayed_ack::rule,
    failing::backlog,
    failing::refusals,
    failing::errors,
    generator::rule,
    connecting::rule,
    rising::rule,
    held_back::rule,
    proxy::rule,
    disturbed::rule,
    busy,
];

pub use failing::out_of_ports;

/// The service is saturated, and nothing outside it is the reason: it is busy, or it waits.
fn busy(ward: &mut Ward<'_>) -> Result<Option<Verdict>, Halt> {
    match cpu::rule(ward)? {
        Some(verdict) => Ok(Some(verdict)),
        None => waiting::rule(ward),
    }
}
