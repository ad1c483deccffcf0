//! The number of connections that the limit of open files leaves room for.

use crate::process::inherited::worker_number;
use crate::settings::Settings;
use std::fs;
use torr_net::file_limit;

/// The number of files that a worker thread opens for itself: pollers, timers, event descriptors.
const OF_WORKER: u64 = 12;
/// The part of the limit, as its divisor, that is left to files of handlers, and its bounds.
const DIVISOR_OF_HANDLERS: u64 = 8;
const LEAST_OF_HANDLERS: u64 = 16;
const MOST_OF_HANDLERS: u64 = 1024;
/// The number of connections below which there is a warning also for the default of `max_connections`.
const FEW: usize = 10_000;

/// The number of connections that a process takes at a time.
#[derive(Debug)]
pub(crate) struct ConnectionRoom {
    pub connections: usize,
    /// The warning to print where there is room for fewer connections than the settings demand.
    pub warning: Option<String>,
}

/// Raises the limit of open files, as far as permitted, for this process's share of `max_connections`. If that is not enough,
/// the process takes fewer connections, with a warning; for the default of the setting, only below [`FEW`].
pub(crate) fn make_room(settings: &Settings, workers: usize) -> ConnectionRoom {
    let share = settings.max_connections.div_ceil(settings.processes.max(1));
    let own = open_now() + OF_WORKER * workers as u64;
    let limit = file_limit::raise_to((share as u64).saturating_add(own).saturating_add(MOST_OF_HANDLERS));
    let connections = usize::try_from(fit(share as u64, own, limit)).unwrap_or(usize::MAX);
    let is_missed = settings.max_connections != Settings::default().max_connections || connections < FEW;
    // All processes have the same limit: the first one warns.
    let warns = connections < share && is_missed && worker_number().is_none_or(|number| number == 1);
    let warning = limit.filter(|_| warns).map(|limit| {
        let each = if settings.processes > 1 { " of each process" } else { "" };
        format!(
            "max_connections is {}, but the limit of open files, {limit}, permits only {connections} \
             connections{each}: raise the limit (ulimit -n, LimitNOFILE=) or lower max_connections",
            settings.max_connections,
        )
    });
    ConnectionRoom { connections, warning }
}

/// Returns how many connections of `share` fit a limit, where `own` files are the server's.
fn fit(share: u64, own: u64, limit: Option<u64>) -> u64 {
    let Some(limit) = limit else { return share };
    let of_handlers = (limit / DIVISOR_OF_HANDLERS).clamp(LEAST_OF_HANDLERS, MOST_OF_HANDLERS);
    share.min(limit.saturating_sub(own + of_handlers)).max(1)
}

/// Returns the number of files that this process has open.
fn open_now() -> u64 {
    // An estimate where there is no /proc.
    fs::read_dir("/proc/self/fd").map_or(LEAST_OF_HANDLERS, |files| files.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_the_files_of_handlers() {
        for (share, own, limit, expected) in [
            (100_000, 50, None, 100_000),
            (100_000, 50, Some(200_000), 100_000),
            (100_000, 50, Some(101_074), 100_000),
            (100_000, 50, Some(100_000), 98_926),
            (100_000, 50, Some(2_000), 1_700),
            (500, 50, Some(2_000), 500),
            (100_000, 50, Some(256), 174),
            (100_000, 50, Some(100), 34),
            (100_000, 50, Some(60), 1),
            (200_000, 50, Some(1 << 20), 200_000),
        ] {
            assert_eq!(fit(share, own, limit), expected, "{share}, {own}, {limit:?}");
        }
    }
}
