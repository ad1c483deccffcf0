//! The gain of a mended place, cut by what limits next.
//!
//! A survey computes what half of a place's cost brings where nothing else limits. The experiments before it show how far that goes: the
//! CPU that is left, the thread that does most, the database, the generator, the connections of the load.

use crate::figures::Figures;
use crate::gain::Bounds;
use crate::thresholds::{CHEAPER_UNDER_LOAD, CUT_GAIN, FULL_THREAD, GAIN_SPREAD, MOST_OF_THE_WORK};
use torr_gauge::Factor;
use torr_gauge::verdict::place::{NextLimit, PlaceKind};
use torr_gauge::verdict::{Estimate, Located, Place};
use torr_signals::ThreadUse;

/// The largest part of all cost that half of a place's can be.
const MOST_SAVED: f64 = 0.5;

/// How far throughput can grow before something else limits, as multiples of the measured throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ceiling {
    by: NextLimit,
    /// The ceiling at the present costs.
    value: f64,
    /// The ceiling if costs fall as far as they may.
    high: f64,
}

/// Cuts the gains of places by what limits next.
pub fn cut(mut located: Located, factor: Factor, figures: &Figures, bounds: &Bounds) -> Located {
    for place in located.places.iter_mut().chain(&mut located.widest) {
        let Some(gain) = place.gain else { continue };
        let ceilings = ceilings(place, gain, factor, figures, bounds);
        let lowest = ceilings.iter().min_by(|a, b| a.value.total_cmp(&b.value));
        if let Some(lowest) = lowest.filter(|lowest| lowest.value < gain.value / CUT_GAIN) {
            place.next_limit = Some(lowest.by);
        }
        place.gain = Some(ceilings.iter().fold(gain, below));
    }
    located
}

/// Returns a gain that is at most a ceiling.
fn below(gain: Estimate, ceiling: &Ceiling) -> Estimate {
    let (value, high) = (ceiling.value.max(1.0), ceiling.high.max(ceiling.value).max(1.0));
    Estimate { low: gain.low.min(value), value: gain.value.min(value), high: gain.high.min(high) }
}

/// Returns all that may limit next once half of a place's cost is saved.
fn ceilings(place: &Place, gain: Estimate, factor: Factor, figures: &Figures, bounds: &Bounds) -> Vec<Ceiling> {
    // The upper end of a gain may count more than the place's own cost, such as the garbage that it makes.
    let (saved, saved_at_most) =
        (Saved::of(place, gain.value, factor, figures), Saved::of(place, gain.high, factor, figures));
    let mut ceilings = Vec::new();
    if let (Ok(room), Some(server)) = (bounds.cpu, figures.server_cores()) {
        let used = server + figures.peer_cores() + figures.generator_there();
        let high = saved_at_most.raises(room, used) * bounds.cheaper;
        ceilings.push(Ceiling { by: NextLimit::Cpu, value: saved.raises(room, used), high });
    }
    let quotas = figures.processes().filter_map(|process| process.quota.as_ref());
    if let Some((quota, server)) = quotas.min_by(|a, b| a.cores.total_cmp(&b.cores)).zip(figures.server_cores()) {
        let used = quota.used_cores.unwrap_or(server);
        let room = (quota.cores / used.max(1e-9)).max(1.0);
        let high = saved_at_most.raises(room, used) * GAIN_SPREAD;
        ceilings.push(Ceiling { by: NextLimit::Quota, value: saved.raises(room, used), high });
    }
    // A thread that computes what is saved has the gain itself as its ceiling.
    let thread = figures.worker_demand().max(in_turns(place, figures));
    if place.kind != PlaceKind::Cpu && thread > 0.0 {
        ceilings.push(of_thread(NextLimit::Thread, thread));
    }
    if let Some(thread) = database_demand(figures) {
        let part = if place.kind == PlaceKind::Statement { saved.part } else { 0.0 };
        ceilings.push(of_thread(NextLimit::Database, thread * (1.0 - part)));
    }
    if let Some(busy) = figures.generator_busy.filter(|busy| *busy > 0.0) {
        ceilings.push(of_thread(NextLimit::Generator, busy));
    }
    if bounds.connections.is_finite() {
        // All requests in flight at work, each as long as one alone, which the saved time shortens.
        let value = bounds.connections.max(1.0) / (1.0 - saved.of_response(place.kind, figures));
        ceilings.push(Ceiling { by: NextLimit::Connections, value, high: value.max(gain.high * bounds.connections) });
    }
    if let Some(null) = bounds.null {
        ceilings.push(Ceiling { by: NextLimit::NullService, value: null, high: bounds.null_at_most() });
    }
    ceilings
}

/// What half of a place's cost saves.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Saved {
    /// The part of the resource that limits, 0 to 1.
    part: f64,
    /// The CPU time of all on the server's machine, in cores.
    cores: f64,
}

impl Saved {
    /// Returns what is saved where that alone would bring `gain` times the throughput.
    fn of(place: &Place, gain: f64, factor: Factor, figures: &Figures) -> Self {
        let part = 1.0 - gain.max(1.0).recip();
        let server = figures.server_cores().unwrap_or(0.0);
        let cores = match place.kind {
            // The resource is the busiest thread, or one core that threads take turns on.
            PlaceKind::Cpu if factor == Factor::SingleCore => part * server.min(1.0),
            PlaceKind::Cpu => part * server,
            // The thread that holds the lock computes, one at a time.
            PlaceKind::Lock if place.holder.as_ref().is_some_and(|holder| holder.wait.is_none()) => {
                part * server.min(1.0)
            }
            PlaceKind::Statement => part * figures.peer_cores(),
            PlaceKind::Lock | PlaceKind::Wait | PlaceKind::Peer => 0.0,
        };
        Self { part, cores }
    }

    /// Returns the factor of throughput for which there is CPU time, if at the present costs there is some for `room` times as much and
    /// `used` cores are used.
    fn raises(self, room: f64, used: f64) -> f64 {
        room / (1.0 - (self.cores / used.max(1e-9)).min(MOST_SAVED))
    }

    /// Returns the part of the response time of a request alone that is saved.
    fn of_response(self, kind: PlaceKind, figures: &Figures) -> f64 {
        let of_request = |cores: f64| cores / (figures.rps() * figures.alone_mean_s).max(1e-9);
        let part = match kind {
            PlaceKind::Cpu => of_request(self.cores),
            // One request at a time is in the lock.
            PlaceKind::Lock => of_request(self.part),
            PlaceKind::Wait | PlaceKind::Statement | PlaceKind::Peer => self.part,
        };
        part.min(MOST_SAVED)
    }
}

/// Returns the ceiling of a thread with this demand for CPU time in cores. A thread that waits for work now and then may do more of it at
/// a time once there is more; one that is saturated already does.
fn of_thread(by: NextLimit, demand: f64) -> Ceiling {
    let value = demand.clamp(1e-3, 1.0).recip();
    let spread = if demand >= FULL_THREAD { GAIN_SPREAD } else { CHEAPER_UNDER_LOAD };
    Ceiling { by, value, high: value * spread }
}

/// Returns the CPU time in cores of the busiest process whose threads compute in turns, as those of Python and Ruby do; 0 of others.
fn in_turns(place: &Place, figures: &Figures) -> f64 {
    let takes_turns = ["python", "ruby"].contains(&place.runtime.as_str());
    let busiest = figures.processes().map(|process| process.cores).fold(0.0, f64::max);
    if takes_turns { busiest } else { 0.0 }
}

/// Returns the demand in cores of a database's thread that does most of the database's work. `None` of a database whose work is spread.
fn database_demand(figures: &Figures) -> Option<f64> {
    let of_peer = |peer: &torr_signals::PeerUse| {
        let threads = peer.processes.iter().flat_map(|process| &process.threads);
        let busiest = threads.max_by(|a, b| a.cores.total_cmp(&b.cores))?;
        // Of processes of which each has few connections the busiest one says nothing about the others.
        (peer.processes.len() == 1 && busiest.cores >= MOST_OF_THE_WORK * peer.cores())
            .then(|| ThreadUse::demand(busiest))
    };
    figures.databases().filter_map(of_peer).filter(|demand| *demand > 0.0).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests;
