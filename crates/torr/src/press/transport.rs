//! From the command line to the way there.

use crate::cli::TransportArgs;
use crate::exit::Stop;
use std::net::{IpAddr, SocketAddr};
use torr_net::{Address, address};
use torr_press::Target;

/// Where to connect to, and where from.
pub fn addresses(args: &TransportArgs, target: &Target) -> Result<(Vec<Address>, Vec<IpAddr>), Stop> {
    let addresses = address::resolve(&target.host, target.port)
        .map_err(|_| Stop::Unreachable(format!("the name '{}' does not resolve", target.host)))?;
    check_sources(&args.bind, &addresses)?;
    Ok((addresses.into_iter().map(Address::Tcp).collect(), args.bind.clone()))
}

/// Source addresses must be this machine's, and of the target's family.
fn check_sources(sources: &[IpAddr], addresses: &[SocketAddr]) -> Result<(), Stop> {
    for source in sources {
        if !address::is_local(*source) {
            return Err(Stop::Usage(format!("cannot connect from {source}: it is no address of this machine")));
        }
        if let Some(other) = addresses.iter().find(|to| to.is_ipv4() != source.is_ipv4()) {
            return Err(Stop::Usage(format!("cannot connect from {source} to {}: one is IPv4, one IPv6", other.ip())));
        }
    }
    Ok(())
}
