//! The plan of a run of sessions.

use crate::exit::Stop;
use crate::flags::transport::TransportArgs;
use crate::press::cpus;
use std::sync::Arc;
use torr_press::{Plan, Requests, Target};
use torr_session::users::{HurlUsers, RunSettings, SessionFile};

/// Returns the plan of users who walk through files: a closed loop without end, with a thread for each CPU.
///
/// # Errors
/// If requests go to different servers, or the way to the server is none.
pub fn of(
    files: Vec<SessionFile>,
    settings: RunSettings,
    transport: &TransportArgs,
    keep_alive: bool,
) -> Result<Plan, Stop> {
    let first = files.first().map_or_else(String::new, |file| file.name.clone());
    let users = HurlUsers::new(files, settings).map_err(Stop::usage)?;
    let url = users.first_url().ok_or_else(|| {
        Stop::Usage(format!("{first}: the first request's URL is not known before the run: a run has one server"))
    })?;
    let target = Target::parse(url.as_str()).map_err(Stop::usage)?;
    let request = Requests::get(&target, keep_alive).map_err(Stop::usage)?;
    let route = transport.route(&target)?;
    if transport.http2.streams.is_some_and(|streams| streams > 1) {
        return Err(Stop::Usage("each user of a session has a connection of its own: leave out --streams".into()));
    }
    Ok(Plan {
        sources: route.sources,
        tunnel: route.tunnel,
        protocol: route.protocol,
        threads: cpus(),
        keep_alive,
        users: Some(Arc::new(users)),
        ..Plan::new(target, route.addresses, request)
    })
}
