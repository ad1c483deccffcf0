//! Gains of places on services whose next limits are known.

use super::*;
use crate::ladder::{Ladder, Rung};
use serde_json::json;
use torr_signals::{MachineUse, PeerUse, ProcessUse, QuotaUse, Role, Signals};

/// A service of 100/s on 4 CPUs with 50 requests in flight, each of which takes 10 ms alone. `server` cores are used by its threads.
fn figures(server: &[f64], generator: f64) -> Figures {
    let all: f64 = server.iter().sum();
    let machine = MachineUse { cores: 4, cpu_share: (all + generator) / 4.0, steal_share: None, cpu_pressure: None };
    let threads = server.iter().map(|&cores| ThreadUse { cores, ..ThreadUse::default() }).collect();
    let processes = vec![ProcessUse { cores: all, threads, ..ProcessUse::default() }];
    Figures {
        connections: 50,
        in_flight: 50,
        alone_mean_s: 0.01,
        ladder: Ladder(vec![Rung { connections: 50, rps: 100.0, median_s: 0.5 }]),
        signals: Some(Signals { machine: Some(machine), processes, ..Signals::default() }),
        same_machine: true,
        generator_cores: Some(generator),
        ..Figures::default()
    }
}

/// A place with this share, and the gain that half of its cost brings.
fn place(kind: &str, share: f64) -> Place {
    let share = Estimate { low: share, value: share, high: share };
    let place = json!({"kind": kind, "runtime": "native", "share": share, "gain": share.gain(), "samples": 1000});
    serde_json::from_value(place).expect("it has all")
}

/// Returns a place's gain, its upper end, and what limits next.
fn cut_gain(place: Place, factor: Factor, figures: &Figures) -> (f64, f64, Option<NextLimit>) {
    let located = Located { places: vec![place.clone()], widest: vec![place], ..Located::default() };
    let bounds = Bounds { cheaper: 1.0, ..Bounds::of(figures, figures.alone_mean_s) };
    let cut = cut(located, factor, figures, &bounds);
    assert_eq!(cut.places, cut.widest);
    let gain = cut.places[0].gain.expect("it has a gain");
    assert!(gain.low <= gain.value && gain.value <= gain.high, "{gain:?}");
    let round = |value: f64| (value * 100.0).round() / 100.0;
    (round(gain.value), round(gain.high), cut.places[0].next_limit)
}

#[test]
fn what_nothing_else_limits_is_promised_as_it_is() {
    let half_idle = figures(&[0.3; 4], 0.0);
    assert_eq!(cut_gain(place("lock", 1.0), Factor::Lock, &half_idle), (2.0, 2.0, None));
    let full = figures(&[1.0; 4], 0.0);
    assert_eq!(cut_gain(place("cpu", 0.8), Factor::ServerCpu, &full), (1.67, 1.67, None));
    let one = figures(&[1.0], 0.0);
    assert_eq!(cut_gain(place("cpu", 0.8), Factor::SingleCore, &one), (1.67, 1.67, None));
    // Without signals nothing is known to limit.
    let unseen = Figures { signals: None, ..half_idle };
    assert_eq!(cut_gain(place("lock", 1.0), Factor::Lock, &unseen), (2.0, 2.0, None));
}

#[test]
fn the_cpu_of_all_that_shares_the_machine_cuts_a_gain() {
    // The generator has a quarter of the machine, and its requests get no cheaper.
    assert_eq!(
        cut_gain(place("cpu", 0.8), Factor::ServerCpu, &figures(&[1.0; 3], 1.0)),
        (1.43, 1.43, Some(NextLimit::Cpu))
    );
    // A lock at 3.2 of 4 cores.
    let nearly_full = figures(&[0.8; 4], 0.0);
    assert_eq!(cut_gain(place("lock", 1.0), Factor::Lock, &nearly_full), (1.25, 1.25, Some(NextLimit::Cpu)));
    // Half of what its holder computes is saved.
    let holder = json!({"function": "f", "share": 1.0});
    let computes = Place { holder: serde_json::from_value(holder).expect("it has all"), ..place("lock", 1.0) };
    assert_eq!(cut_gain(computes, Factor::Lock, &nearly_full), (1.48, 1.48, Some(NextLimit::Cpu)));
}

#[test]
fn the_garbage_that_a_function_makes_stays_in_the_upper_end() {
    let share = Estimate { low: 0.6, value: 0.6, high: 0.6 };
    let gain = Estimate { high: 1.75, ..share.gain() };
    let makes_garbage = Place { gain: Some(gain), ..place("cpu", 0.6) };
    assert_eq!(cut_gain(makes_garbage, Factor::ServerCpu, &figures(&[1.0; 4], 0.0)), (1.43, 1.75, None));
}

#[test]
fn a_quota_a_thread_a_database_and_the_generator_cut_a_gain() {
    let lock = || place("lock", 1.0);
    let mut limited = figures(&[0.2, 0.2], 0.0);
    let quota = QuotaUse { cgroup: "/".into(), cores: 0.5, used_cores: Some(0.4), periods: 1, throttled_periods: 0 };
    let signals = limited.signals.as_mut().expect("it has some");
    signals.processes[0].quota = Some(quota);
    assert_eq!(cut_gain(lock(), Factor::Lock, &limited), (1.25, 1.38, Some(NextLimit::Quota)));
    let one_thread = figures(&[0.8], 0.0);
    assert_eq!(cut_gain(lock(), Factor::Lock, &one_thread), (1.25, 2.0, Some(NextLimit::Thread)));
    // Threads of Python take turns, so that all of a process are one.
    let python = Place { runtime: "python".into(), ..lock() };
    let in_turns = figures(&[0.2; 4], 0.0);
    assert_eq!(cut_gain(python, Factor::Lock, &in_turns), (1.25, 2.0, Some(NextLimit::Thread)));
    assert_eq!(cut_gain(lock(), Factor::Lock, &in_turns), (2.0, 2.0, None));
    let mut cached = figures(&[0.2, 0.2], 0.0);
    let thread = ThreadUse { cores: 0.96, ..ThreadUse::default() };
    let process = ProcessUse { cores: 0.96, threads: vec![thread], ..ProcessUse::default() };
    let peer = PeerUse { role: Role::Cache, processes: vec![process], ..PeerUse::default() };
    cached.signals.as_mut().expect("it has some").peers.push(peer);
    assert_eq!(cut_gain(lock(), Factor::Lock, &cached), (1.04, 1.15, Some(NextLimit::Database)));
    // What the statement saves is the database's own.
    assert_eq!(cut_gain(place("statement", 1.0), Factor::Database, &cached), (2.0, 2.0, None));
    let generator = Figures { generator_busy: Some(0.98), ..figures(&[0.2, 0.2], 0.0) };
    assert_eq!(cut_gain(lock(), Factor::Lock, &generator), (1.02, 1.12, Some(NextLimit::Generator)));
}

#[test]
fn connections_and_a_service_that_does_nothing_cut_a_gain() {
    // Of two requests in flight, each takes 10 ms of 20 ms alone. Half of what they compute are 2.5 ms.
    let two = Figures { connections: 2, in_flight: 2, alone_mean_s: 0.0199, ..figures(&[0.5], 0.0) };
    let two = Figures { ladder: Ladder(vec![Rung { connections: 2, rps: 100.0, median_s: 0.02 }]), ..two };
    assert_eq!(cut_gain(place("cpu", 1.0), Factor::ServerCpu, &two), (1.15, 2.0, Some(NextLimit::Connections)));
    let null = Figures { null_rps: Some(150.0), ..figures(&[0.2, 0.2], 0.0) };
    assert_eq!(cut_gain(place("lock", 1.0), Factor::Lock, &null), (1.5, 2.0, Some(NextLimit::NullService)));
}
