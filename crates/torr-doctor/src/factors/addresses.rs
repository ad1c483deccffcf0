//! Whether a limiter counts each client's address apart: a second one then has as much again.

use crate::laboratory::Halt;
use crate::ward::{Ward, reached};
use std::net::{IpAddr, Ipv4Addr};
use torr_press::Plan;

/// The two addresses that a service on this machine is asked from. All of 127.0.0.0/8 is this machine (RFC 1122, section 3.2.1.3).
const SOURCES: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2))];
/// From how many times as many on the addresses are counted apart, and up to how many they are not.
const APART: f64 = 1.6;
const TOGETHER: f64 = 1.25;

/// Asks from two addresses at once, where there are two, and tells what came of it. `accepted` is what one has, per second.
pub fn second(ward: &mut Ward<'_>, accepted: f64) -> Result<Option<String>, Halt> {
    let plan = ward.user_plan(1.2);
    let is_loopback =
        plan.addresses.iter().all(|address| matches!(address.tcp(), Some(to) if to.is_ipv4() && to.ip().is_loopback()));
    if !is_loopback || !plan.sources.is_empty() || plan.connections < SOURCES.len() {
        return Ok(None);
    }
    let plan = Plan { sources: SOURCES.into(), ..plan };
    let why = "whether the limiter counts each client's address apart";
    let Some(observation) = reached(ward.lab.run("the same from two addresses", why, &plan))? else { return Ok(None) };
    Ok(match observation.good_rps() / accepted.max(1e-9) {
        times if times >= APART => Some(format!(
            "from two addresses {times:.1} times as many pass: each client's address has a limit of its own"
        )),
        times if times <= TOGETHER => Some("from two addresses no more pass: the limit is one for all".into()),
        _ => None,
    })
}
