//! Whether a service may be pressed until it fails.

use crate::output;
use std::net::IpAddr;
use torr_doctor::permission::{not_ours, refusal};
use torr_net::{Address, address};
use torr_plan::PlanError;
use torr_press::learnt::LearntServers;
use torr_press::{Destination, Plan, Target};

/// Refuses a plan whose service is not on a loopback or private address, unless its user vouches for it. `command` is
/// what would press it. Nothing is sent to the service before.
pub fn ask(plan: &Plan, vouched_for: bool, command: &str) -> Result<(), PlanError> {
    if vouched_for {
        return Ok(());
    }
    if let Some(learnt) = plan.work.users().and_then(|users| users.learnt()) {
        of_learnt(learnt, command);
    }
    let targets = std::iter::once(&plan.target).chain(plan.further.iter().map(|further| &further.target));
    look(plan.all_addresses(), targets, plan.tunnel.is_some(), command)
}

/// Refuses servers that a run learns of, if they are not on a loopback or private address.
pub fn of_learnt(learnt: &LearntServers, command: &str) {
    let command = command.to_owned();
    learnt.forbid(move |server| {
        let Destination { target, addresses, tunnel, .. } = server;
        let looked = look(addresses, std::iter::once(target), tunnel.is_some(), &command);
        // The sessions that go there fail, which neither a verdict nor a limit explains. A server is looked at once.
        looked.err().map(|why| why.to_string()).inspect(|why| output::note(why))
    });
}

/// Refuses servers behind these addresses, or behind a proxy there, that are not on a loopback or private address.
fn look<'a>(
    addresses: impl IntoIterator<Item = &'a Address>,
    targets: impl Iterator<Item = &'a Target>,
    has_proxy: bool,
    command: &str,
) -> Result<(), PlanError> {
    let mut addresses: Vec<IpAddr> = addresses.into_iter().filter_map(|address| Some(address.tcp()?.ip())).collect();
    for target in targets.filter(|_| has_proxy) {
        // Those were the proxy's. Where the proxy goes only it knows for sure, but names mostly mean the same to all.
        let host = &target.host;
        let behind = address::resolve(host, target.port).map_err(|_| {
            PlanError::Usage(format!(
                "cannot check which address the proxy uses for '{host}': add --i-own-this if you may load it"
            ))
        })?;
        addresses.extend(behind.iter().map(|address| address.ip()));
    }
    match not_ours(addresses) {
        Some(foreign) => Err(PlanError::Usage(refusal(foreign, command))),
        None => Ok(()),
    }
}
