//! The service is saturated and nothing is busy: its requests wait for each other. How many go on at a time, whether others
//! wait as well, and where they wait tell for what.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::gain;
use crate::rules::cpu::round_trips;
use crate::thresholds::{
    AS_MANY_CONNECTIONS, AS_MANY_THREADS, COMPUTES, LEAST_HELD, MANY_WAITING_WORKERS, MORE_IN_HAND, MOST_WAIT,
    NO_MORE_IN_HAND, NOT_KEPT, ONE, POOL_IN_USE, QUERIED_BY_EACH,
};
use crate::words::{counted, mean, rate, time};
use torr_gauge::{Confidence, Factor, Gain, Verdict};
use torr_signals::PeerUse;

pub fn rule(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    let held = figures.parallelism();
    if held < LEAST_HELD || figures.wants_cpu() {
        return Ok(None);
    }
    if let Some(verdict) = round_trips(evidence) {
        return Ok(Some(verdict));
    }
    let Some(inside) = waits_inside(evidence, held) else { return Ok(Some(unseen(evidence, held))) };
    let because = witnesses(evidence, held);
    let Some(used) = figures.server_cores() else { return Ok(Some(unseen(evidence, held))) };
    if used > COMPUTES * held && by_threads(evidence, held) != Some(true) {
        return Ok(None);
    }
    // Two witnesses that do not depend on each other, with the ladder as the intervention.
    let agreeing = [by_threads(evidence, held), figures.others_wait().map(|wait| !wait), by_hands(evidence, held)];
    let agree = agreeing.iter().filter(|witness| **witness == Some(inside)).count() >= 2;
    // A limiter of about one connection's rate looks like a lock, but for threads that take turns.
    let is_seen = held >= ONE || !inside || by_threads(evidence, held) == Some(true);
    // A listener that accepts at a pace looks like as many workers where each request opens a connection, but for threads that block.
    let is_accepted =
        inside || by_threads(evidence, held) == Some(false) || evidence.full().opened_per_request() < NOT_KEPT;
    let confidence = if agree && is_seen && is_accepted { Confidence::Certain } else { Confidence::Likely };
    let pool = pool(evidence, held).map(|peer| (peer, confidence));
    let pool = pool.or_else(|| Some((pool_of_as_many(evidence, held)?, Confidence::Likely)));
    let verdict = match (inside, pool) {
        (false, _) => workers(evidence, held, confidence),
        (true, Some((peer, confidence))) => pooled(evidence, peer, held, confidence),
        (true, None) if held < ONE => Verdict::new(
            Factor::Lock,
            confidence,
            "Requests wait for a lock: one at a time goes on, and the server idles.",
        )
        .advice(
            "hold the lock for less: do what is slow (I/O, a query, a call) outside of it, or \
                 give each key a lock of its own",
        )
        .gain(without_lock(evidence, held)),
        (true, None) => Verdict::new(
            Factor::Lock,
            Confidence::Likely,
            "Requests wait inside the server for something that only a few of them can have at a time.",
        )
        .advice(format!("look for a semaphore or a pool of {held:.0}"))
        .gain(evidence.bounds().gain((2.0, 2.0), "with one that is twice as large")),
    };
    Ok(Some(because.into_iter().fold(verdict, Verdict::because)))
}

fn witnesses(evidence: &Evidence, held: f64) -> Vec<String> {
    let figures = &evidence.figures;
    let from = figures.ladder.saturated_from().unwrap_or(1);
    let mut because = vec![format!(
        "throughput rises up to {} and stays at {}: with {} for a request on its own, that is {held:.1} at a time",
        counted(from, "connection"),
        rate(figures.ladder.most()),
        time(figures.service_s())
    )];
    if let (Some(used), Some(cores)) = (figures.server_cores(), figures.cores()) {
        because.push(format!("the server used {used:.2} of {}", counted(cores, "CPU")));
    }
    if let (Some(cheap), Some(beside), Some(wait)) = (&figures.cheap, figures.beside, figures.others_wait()) {
        let response = beside.response_s.map_or("had no response".into(), |s| format!("took {}", time(s)));
        let also = if wait { "so others wait as well" } else { "so no others wait" };
        because.push(format!(
            "with {} {} {response}, {} otherwise: {also}",
            counted(beside.connections, "connection"),
            cheap.what,
            time(cheap.alone_s)
        ));
    }
    if figures.holding() > 0 {
        let threads = counted(figures.holding(), "thread");
        because.push(format!("{threads} of it had a request in hand most of the time, and waited with it"));
    } else if held < ONE && figures.taking_turns() >= 2 {
        because.push(format!(
            "{} of its threads took turns at it: each waited as for a lock most of the time",
            figures.taking_turns()
        ));
    }
    if let Some(hands) = figures.in_service().filter(|hands| hands.round() > 0.0) {
        because.push(format!(
            "of {} requests {hands:.0} were in the server's hands at a time, the others it had not read yet",
            figures.connections
        ));
    }
    because
}

/// Returns whether requests wait inside the server, for something that others do not need, rather than before it.
fn waits_inside(evidence: &Evidence, held: f64) -> Option<bool> {
    by_threads(evidence, held)
        .or_else(|| evidence.figures.others_wait().map(|wait| !wait))
        .or_else(|| by_hands(evidence, held))
}

/// Returns whether requests wait inside the server, by what its threads wait for: as many threads block with a request as requests are
/// in service, or several contend for a lock.
fn by_threads(evidence: &Evidence, held: f64) -> Option<bool> {
    let (holding, turns) = (evidence.figures.holding() as f64, evidence.figures.taking_turns());
    // A single thread may be a runtime's own with a timer; other requests would not pass it if it were the only worker.
    let is_none = holding < 1.0 || holding == 1.0 && evidence.figures.others_wait() == Some(false);
    let (least, most, beside) = AS_MANY_THREADS;
    match held {
        held if held < ONE && turns >= 2 => Some(true),
        // Each thread has one request at a time.
        held if !is_none && (least * held - beside..=most * held + beside).contains(&holding) => Some(false),
        _ => None,
    }
}

/// Returns whether requests wait inside the server, by the number of requests in the server: more than those in service, or no more.
fn by_hands(evidence: &Evidence, held: f64) -> Option<bool> {
    let (hands, connections) = (evidence.figures.in_service()?, evidence.figures.connections as f64);
    let more = MORE_IN_HAND.0 * held + MORE_IN_HAND.1;
    match hands {
        hands if hands > more => Some(true),
        hands if hands < NO_MORE_IN_HAND.0 * held + NO_MORE_IN_HAND.1 && connections > more => Some(false),
        _ => None,
    }
}

/// Returns a database or cache with about as many connections as requests in service, or with a request in flight on nearly all
/// connections.
fn pool(evidence: &Evidence, held: f64) -> Option<&PeerUse> {
    evidence.figures.databases().find(|peer| {
        let busy = peer
            .waiting
            .map_or(peer.connections > MOST_WAIT, |waiting| waiting > MOST_WAIT * held.min(peer.connections));
        let all_wait = peer.waiting.is_some_and(|waiting| waiting > POOL_IN_USE * peer.connections);
        busy && (peer.connections < MORE_IN_HAND.0 * held + MORE_IN_HAND.1 || all_wait)
    })
}

/// Returns a database or cache with as many connections as requests in service, which each request queries, but on which no requests
/// are visibly in flight: TCP does not show them if each query follows a response at once.
fn pool_of_as_many(evidence: &Evidence, held: f64) -> Option<&PeerUse> {
    evidence.figures.databases().find(|peer| {
        let is_queried = evidence.figures.trips_per_request(peer).is_some_and(|trips| trips > QUERIED_BY_EACH);
        // A single one may be shared by all requests.
        is_queried
            && peer.connections > ONE
            && (peer.connections - held).abs() <= AS_MANY_CONNECTIONS.0 * held + AS_MANY_CONNECTIONS.1
    })
}

fn pooled(evidence: &Evidence, peer: &PeerUse, held: f64, confidence: Confidence) -> Verdict {
    let name = peer
        .processes
        .first()
        .map_or_else(|| peer.address.clone(), |process| format!("{} ({})", process.name, peer.address));
    Verdict::new(
        Factor::Database,
        confidence,
        "Requests wait for a connection to the database: its pool is in use, and CPU idles.",
    )
    .because(format!("there were {} connections to {name}, at most {}", mean(peer.connections), peer.connections_max))
    .because_if(
        peer.waiting
            .filter(|waiting| *waiting > MOST_WAIT)
            .map(|waiting| format!("{waiting:.1} of them had a request in flight on average")),
    )
    .advice(format!("enlarge the pool beyond {held:.0} connections, as far as the database takes them"))
    .advice("make the queries faster: each connection then does more of them")
    .gain(evidence.bounds().gain((2.0, 2.0), "with a pool twice as large"))
}

fn workers(evidence: &Evidence, held: f64, confidence: Confidence) -> Verdict {
    let cores = evidence.figures.cores();
    let verdict = match held < ONE {
        true => Verdict::new(
            Factor::Workers,
            confidence,
            "One worker takes one request after another, and waits while it has one.",
        ),
        false => Verdict::new(
            Factor::Workers,
            confidence,
            format!("All of {} workers are taken, and wait: CPU is free.", many(evidence, held)),
        ),
    };
    verdict
        .advice(match cores {
            Some(cores) if held >= MANY_WAITING_WORKERS * cores as f64 => {
                "run more workers still, as far as memory and what they wait for allow; or let them wait asynchronously"
                    .into()
            }
            Some(cores) => format!("run more workers: where they wait, 4 to 8 for each of the {cores} CPUs"),
            None => "run more workers: where they wait, 4 to 8 for each CPU".into(),
        })
        .gain(gain::by_waiting_workers(
            &evidence.bounds().with_more_threads(),
            number_of_workers(evidence, held),
            cores,
        ))
}

/// Returns the number of workers in words: the threads that hold a request, or about as many as requests in service.
fn many(evidence: &Evidence, held: f64) -> String {
    match evidence.figures.holding() {
        0 => format!("about {held:.0}"),
        holding => holding.to_string(),
    }
}

/// Returns the number of workers.
fn number_of_workers(evidence: &Evidence, held: f64) -> f64 {
    match evidence.figures.holding() {
        0 => held.round(),
        holding => holding as f64,
    }
}

/// Returns the gain without the lock: as many requests at a time as there are threads that take turns at it, or else as many as the
/// server has read.
fn without_lock(evidence: &Evidence, held: f64) -> Gain {
    let change = "once requests do not exclude each other";
    let at_a_time = match evidence.figures.taking_turns() {
        0 | 1 => evidence.figures.in_service().filter(|hands| *hands >= 1.0),
        turns => Some(turns as f64),
    };
    match at_a_time {
        Some(at_a_time) => evidence.bounds().gain((at_a_time / held, at_a_time / held), change),
        None => Gain::unknown(
            format!("more throughput {change}"),
            "how many requests the server works on then was not seen",
        ),
    }
}

/// From a machine that shows nothing, waiting and working look alike: a scheduler lets others pass while the CPU is full, too.
fn unseen(evidence: &Evidence, held: f64) -> Verdict {
    let because = witnesses(evidence, held);
    let verdict = Verdict::new(
        Factor::Unknown,
        Confidence::Unknown,
        "The service does no more than so much at a time; whether it works or waits meanwhile cannot \
         be seen from here.",
    )
    .advice("run 'torr watch' on the server's machine and give its address with --watch");
    because.into_iter().fold(verdict, Verdict::because)
}
