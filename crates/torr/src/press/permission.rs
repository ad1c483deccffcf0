//! Whether a service may be pressed until it fails.

use crate::exit::Stop;
use std::net::IpAddr;
use torr_doctor::permission::{not_ours, refusal};
use torr_net::address;
use torr_press::Plan;

/// Refuses a plan whose service is not on a loopback or private address, unless its user vouches for it. `command` is
/// what would press it. Nothing is sent to the service before.
pub fn ask(plan: &Plan, vouched_for: bool, command: &str) -> Result<(), Stop> {
    if vouched_for {
        return Ok(());
    }
    let mut addresses: Vec<IpAddr> = plan.addresses.iter().filter_map(|address| Some(address.tcp()?.ip())).collect();
    if plan.tunnel.is_some() {
        // Those were the proxy's. Where the proxy goes only it knows for sure, but names mostly mean the same to all.
        let behind = address::resolve(&plan.target.host, plan.target.port).map_err(|_| {
            let host = &plan.target.host;
            Stop::Usage(format!(
                "where the proxy finds '{host}' cannot be told from here: if it is yours to press, add --i-own-this"
            ))
        })?;
        addresses.extend(behind.iter().map(|address| address.ip()));
    }
    match not_ours(addresses) {
        Some(foreign) => Err(Stop::Usage(refusal(foreign, command))),
        None => Ok(()),
    }
}
