//! The plan of a run of sessions.

use crate::exit::CliError;
use crate::flags::transport::{TransportArgs, destination, finder};
use crate::press::cpus;
use std::sync::Arc;
use torr_press::{Plan, Requests, Target};
use torr_session::users::{HurlUsers, RunSettings, SessionFile};

/// Returns the plan of users who walk through files: a closed loop without end, with a thread for each CPU.
///
/// # Errors
/// If no server is known, or there is no way to one of them.
pub fn of(
    files: Vec<SessionFile>,
    settings: RunSettings,
    transport: &TransportArgs,
    keep_alive: bool,
) -> Result<Plan, CliError> {
    let first = files.first().map_or_else(String::new, |file| file.name.clone());
    let mut users = HurlUsers::new(files, settings);
    users.learn(finder(transport));
    let mut targets = Vec::new();
    for url in users.urls() {
        targets.push(Target::parse(url.as_str()).map_err(CliError::usage)?);
    }
    let mut targets = targets.into_iter();
    let target = targets.next().ok_or_else(|| {
        CliError::Usage(format!("{first}: no URL is known before the run, so that there is no server to connect to"))
    })?;
    let request = Requests::get(&target, keep_alive).map_err(CliError::usage)?;
    let route = transport.route(&target)?;
    if transport.http2.streams.is_some_and(|streams| streams > 1) {
        return Err(CliError::Usage("each user of a session has a connection of its own: leave out --streams".into()));
    }
    let further = targets.map(|target| destination(transport, target)).collect::<Result<_, _>>()?;
    Ok(Plan {
        further,
        sources: route.sources,
        tunnel: route.tunnel,
        protocol: route.protocol,
        threads: cpus(),
        keep_alive,
        users: Some(Arc::new(users)),
        ..Plan::new(target, route.addresses, request)
    })
}
