//! What the machine of a simulated service shows of it.

use super::neighbours::Pressure;
use super::service::{Fault, Service};
use crate::experiment;
use torr_signals::{
    ClientsUse, ListenerUse, MachineUse, NetworkUse, PeerUse, ProcessUse, ProgramUse, QuotaUse, Role, Signals,
    ThreadUse,
};

/// Returns the signals of a load of so many seconds, beside other programs.
pub fn of(service: &Service, pressure: &Pressure, plan: &experiment::Load, load: super::Load, seconds: f64) -> Signals {
    let is_target = !matches!(
        plan.request,
        experiment::Request::Absent | experiment::Request::WithoutHost | experiment::Request::Null(_)
    );
    let done = if is_target { load.rps * (1.0 - load.refused - load.failed) } else { 0.0 };
    let used = done * service.cpu_s + load.rps * load.opened * service.connect_cpu_s;
    let generator = load.rps * (service.generator_s + load.opened * service.connect_cpu_s);
    let ours = used + generator;
    let others = pressure.taken(service.cores, ours);
    let share = ((ours + others) / service.cores as f64).min(1.0);
    let own_queue: f64 = if ours > 0.9 * service.cores as f64 { 0.3 } else { 0.02 };
    // A thread waits for a CPU while it computes, and each time that it is woken.
    let queued = |cores: f64, wakes_per_s: f64| {
        own_queue.max((cores * (service.slowdown - 1.0) + wakes_per_s * service.wake_s).min(1.0 - cores))
    };
    let busy = |count: usize, wait: &str| -> Vec<ThreadUse> {
        let cores = (used / count as f64).min(1.0);
        let queued = queued(cores, (1.0 - cores) * done / count as f64);
        (1..).take(count).map(|tid| thread(tid, cores, queued, wait, 1.0 - cores, 2.0 * done / count as f64)).collect()
    };
    let threads = match service.fault {
        Fault::SingleThread => busy(1, "ep_poll"),
        Fault::Workers(workers) | Fault::Overflows { workers, .. } => {
            let waiting = (done * service.wait_s / workers as f64).min(1.0);
            let each = done / workers as f64;
            let cores = (used / workers as f64).min(1.0);
            let queued = queued(cores, each);
            (1..).take(workers).map(|tid| thread(tid, cores, queued, "hrtimer_nanosleep", waiting, each)).collect()
        }
        Fault::Lock(hold_s, threads) => {
            let held = (done * hold_s / threads as f64).min(1.0);
            let cores = (used / threads as f64).min(1.0);
            let queued = queued(cores, done / threads as f64);
            (1..)
                .take(threads)
                .map(|tid| thread(tid, cores, queued, "futex_wait_queue", 1.0 - held, 2.0 * done / threads as f64))
                .collect()
        }
        _ => busy(service.cores, "ep_poll"),
    };
    let taken = match service.fault {
        Fault::SingleThread => 1.0 + 0.1 * load.connections,
        Fault::Workers(workers) | Fault::Lock(_, workers) | Fault::Overflows { workers, .. } => workers as f64,
        Fault::Accepts { .. } => load.connections - load.accepting.queued,
        _ => load.connections,
    };
    let accepting = load.accepting;
    // Connections in the accept queue belong to no process yet.
    let established = load.connections - accepting.queued;
    let listeners = match service.fault {
        Fault::Accepts { backlog, .. } => vec![ListenerUse {
            address: "127.0.0.1:80".into(),
            sockets: 1,
            backlog: Some(backlog as u32),
            queued_mean: Some(accepting.queued),
            queued_max: Some(accepting.queued as u32),
        }],
        _ => vec![],
    };
    let quota = match service.fault {
        Fault::Quota(cores) => {
            let periods = (seconds * 10.0) as u64 + 1;
            let throttled = if used > 0.95 * cores { periods * 9 / 10 } else { 0 };
            Some(QuotaUse { cgroup: "/q".into(), cores, used_cores: Some(used), periods, throttled_periods: throttled })
        }
        _ => None,
    };
    let peers = match service.fault {
        Fault::Pool(connections, query_s) => vec![PeerUse {
            address: "127.0.0.1:5432".into(),
            role: Role::Database,
            connections: connections as f64,
            connections_max: connections,
            kept: Some(1.0),
            waiting: Some((done * query_s).min(connections as f64)),
            sends_per_s: Some(done),
            bytes_per_s: Some(done * 100.0),
            ..PeerUse::default()
        }],
        _ => vec![],
    };
    let process = ProcessUse {
        pid: 1,
        name: "service".into(),
        cores: used,
        thread_count: threads.len(),
        threads,
        quota,
        ..ProcessUse::default()
    };
    let opened = load.connections + load.rps * load.opened * seconds;
    Signals {
        seconds,
        machine: Some(MachineUse { cores: service.cores, cpu_share: share, ..MachineUse::default() }),
        network: Some(NetworkUse {
            active_opens: Some(opened as u64),
            listen_overflows: Some(accepting.overflows as u64),
            half_open_drops: Some(0),
            ..NetworkUse::default()
        }),
        clients: Some(ClientsUse { established, unread: (established - taken).max(0.0), ..ClientsUse::default() }),
        listeners,
        processes: vec![process],
        peers,
        others: vec![ProgramUse { name: "neighbour".into(), cores: others }],
        ..Signals::default()
    }
}

fn thread(tid: i32, cores: f64, queued: f64, wait: &str, share: f64, waits_per_s: f64) -> ThreadUse {
    ThreadUse {
        tid,
        name: format!("worker-{tid}"),
        cores,
        queued: Some(queued),
        waits_per_s: Some(waits_per_s),
        running: Some(cores),
        waiting: [(wait.to_owned(), share.max(0.0))].into(),
    }
}
