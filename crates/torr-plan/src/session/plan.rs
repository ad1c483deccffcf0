//! The plan of a run of sessions.

use crate::error::PlanError;
use crate::transport::{self, destination, finder};
use std::sync::Arc;
use torr_gauge::machine::cpus;
use torr_load::TransportPart;
use torr_press::{Plan, Target, Work};
use torr_session::users::{HurlUsers, RunSettings, SessionFile};

/// Finds out whether the servers of files are known, and whether the way to them can be one. No name is resolved.
///
/// # Errors
/// As [`of`].
pub fn check(files: Vec<SessionFile>, settings: RunSettings, transport: &TransportPart) -> Result<(), PlanError> {
    let (_, target, further) = users(files, settings)?;
    std::iter::once(&target).chain(&further).try_for_each(|target| transport::check(transport, target))
}

/// Returns the users of files, with the first server that they send requests to, and the others that are known.
fn users(files: Vec<SessionFile>, settings: RunSettings) -> Result<(HurlUsers, Target, Vec<Target>), PlanError> {
    let first = files.first().map_or_else(String::new, |file| file.name.clone());
    let users = HurlUsers::new(files, settings);
    let mut targets = Vec::new();
    for url in users.urls() {
        targets.push(Target::parse(url.as_str()).map_err(PlanError::usage)?);
    }
    if targets.is_empty() {
        let none =
            format!("{first}: no URL is known before the run: the first request needs a URL without captured values");
        return Err(PlanError::Usage(none));
    }
    let target = targets.remove(0);
    Ok((users, target, targets))
}

/// Returns the plan of users who walk through files: a closed loop without end, with a thread for each CPU.
///
/// # Errors
/// If no server is known, or there is no way to one of them.
pub fn of(
    files: Vec<SessionFile>,
    settings: RunSettings,
    transport: &TransportPart,
    keep_alive: bool,
) -> Result<Plan, PlanError> {
    let (mut users, target, further) = users(files, settings)?;
    users.learn(finder(transport));
    let route = transport::route(transport, &target)?;
    if transport.http2.streams.as_deref().is_some_and(|streams| *streams > 1) {
        return Err(PlanError::Usage("each user of a session has its own connection: drop --streams".into()));
    }
    let further = further.into_iter().map(|target| destination(transport, target)).collect::<Result<_, _>>()?;
    Ok(Plan {
        further,
        sources: route.sources,
        tunnel: route.tunnel,
        protocol: route.protocol,
        threads: cpus(),
        keep_alive,
        ..Plan::new(target, route.addresses, Work::Users(Arc::new(users)))
    })
}
