//! The service is saturated and nothing is busy: its requests wait for each other. How many go on at a time, whether others
//! wait as well, and where they wait tell for what.

use crate::factors::cpu::round_trips;
use crate::figures::{LEAST_HELD, ONE};
use crate::gain;
use crate::laboratory::Halt;
use crate::ward::Ward;
use crate::words::{counted, mean, rate, time};
use torr_gauge::signals::PeerUse;
use torr_gauge::{Confidence, Factor, Gain, Verdict};

/// CPUs that are used for each request that goes on, from which it computes rather than waits.
const COMPUTES: f64 = 0.5;
/// Workers for each CPU that are many already, for work that waits.
const MANY_WAITING: f64 = 8.0;
/// The share of a pool's connections on which an answer must be waited for, for all of it to be in use.
const ALL_WAIT: f64 = 0.8;

pub fn rule(ward: &mut Ward<'_>) -> Result<Option<Verdict>, Halt> {
    let figures = &ward.figures;
    let held = figures.parallelism();
    if held < LEAST_HELD || figures.wants_cpu() {
        return Ok(None);
    }
    if let Some(verdict) = round_trips(ward) {
        return Ok(Some(verdict));
    }
    let Some(inside) = waits_inside(ward, held) else { return Ok(Some(unseen(ward, held))) };
    let told = evidence(ward, held);
    let Some(used) = figures.server_cores() else { return Ok(Some(unseen(ward, held))) };
    if used > COMPUTES * held && by_threads(ward, held) != Some(true) {
        return Ok(None);
    }
    // Two witnesses that do not depend on each other, with the ladder as the intervention.
    let witnesses = [by_threads(ward, held), figures.others_wait().map(|wait| !wait), by_hands(ward, held)];
    let agree = witnesses.iter().filter(|witness| **witness == Some(inside)).count() >= 2;
    let confidence = if agree { Confidence::Certain } else { Confidence::Likely };
    let pool = pool(ward, held).map(|peer| (peer, confidence));
    let pool = pool.or_else(|| Some((pool_of_as_many(ward, held)?, Confidence::Likely)));
    let verdict = match (inside, pool) {
        (false, _) => workers(ward, held, confidence),
        (true, Some((peer, confidence))) => pooled(ward, peer, held, confidence),
        (true, None) if held < ONE => Verdict::new(
            Factor::Lock,
            confidence,
            "Requests wait for a lock: one at a time goes on, and the server idles.",
        )
        .advice(
            "hold the lock for less: do what is slow (I/O, a query, a call) outside of it, or \
                 give each key a lock of its own",
        )
        .gain(without_lock(ward, held)),
        (true, None) => Verdict::new(
            Factor::Lock,
            Confidence::Likely,
            "Requests wait inside the server for something that only a few of them can have at a time.",
        )
        .advice(format!("look for a semaphore or a pool of {held:.0}"))
        .gain(ward.bounds().gain((2.0, 2.0), "with one that is twice as large")),
    };
    Ok(Some(told.into_iter().fold(verdict, Verdict::because)))
}

fn evidence(ward: &Ward<'_>, held: f64) -> Vec<String> {
    let figures = &ward.figures;
    let from = figures.ladder.saturated_from().unwrap_or(1);
    let mut told = vec![format!(
        "throughput rises up to {} and stays at {}: with {} for a request on its own, that is {held:.1} at a time",
        counted(from, "connection"),
        rate(figures.ladder.most()),
        time(figures.service_s())
    )];
    if let (Some(used), Some(cores)) = (figures.server_cores(), figures.cores()) {
        told.push(format!("the server used {used:.2} of {}", counted(cores, "CPU")));
    }
    if let (Some(cheap), Some(beside), Some(wait)) = (&figures.cheap, figures.beside, figures.others_wait()) {
        let response = beside.response_s.map_or("was not answered".into(), |s| format!("took {}", time(s)));
        let also = if wait { "so others wait as well" } else { "so nobody else waits" };
        told.push(format!(
            "with {} {} {response}, {} otherwise: {also}",
            counted(beside.connections, "connection"),
            cheap.what,
            time(cheap.alone_s)
        ));
    }
    if figures.holding() > 0 {
        let threads = counted(figures.holding(), "thread");
        told.push(format!("{threads} of it had a request in hand most of the time, and waited with it"));
    } else if held < ONE && figures.taking_turns() >= 2 {
        told.push(format!(
            "{} of its threads took turns at it: each waited as for a lock most of the time",
            figures.taking_turns()
        ));
    }
    if let Some(hands) = figures.in_service().filter(|hands| hands.round() > 0.0) {
        told.push(format!(
            "of {} requests {hands:.0} were in the server's hands at a time, the others it had not read yet",
            figures.connections
        ));
    }
    told
}

/// Whether requests wait inside the server, for something that others do not need, rather than before it.
fn waits_inside(ward: &Ward<'_>, held: f64) -> Option<bool> {
    by_threads(ward, held).or_else(|| ward.figures.others_wait().map(|wait| !wait)).or_else(|| by_hands(ward, held))
}

/// The same by what its threads wait for: as many block with a request in their hands as go on, or several take turns at
/// something that one at a time has.
fn by_threads(ward: &Ward<'_>, held: f64) -> Option<bool> {
    let (holding, turns) = (ward.figures.holding() as f64, ward.figures.taking_turns());
    // A single one may be a runtime's own that sleeps by the clock; others would not pass it if it were the only worker.
    let is_none = holding < 1.0 || holding == 1.0 && ward.figures.others_wait() == Some(false);
    match held {
        held if held < ONE && turns >= 2 => Some(true),
        // Each has one at a time, so that fewer cannot be all that there are.
        held if !is_none && (0.75 * held - 0.3..=1.35 * held + 0.3).contains(&holding) => Some(false),
        _ => None,
    }
}

/// The same by how many requests the server has taken: all that go on, and no more, or more than that.
fn by_hands(ward: &Ward<'_>, held: f64) -> Option<bool> {
    let (hands, asked) = (ward.figures.in_service()?, ward.figures.connections as f64);
    match hands {
        hands if hands > 2.0 * held + 2.0 => Some(true),
        hands if hands < 1.4 * held + 1.0 && asked > 2.0 * held + 2.0 => Some(false),
        _ => None,
    }
}

/// A database or cache to which there are about as many connections as requests go on, or on nearly all of whose connections an
/// answer is waited for: then a request alone took too different a time to tell how many go on.
fn pool<'w>(ward: &'w Ward<'_>, held: f64) -> Option<&'w PeerUse> {
    ward.figures.databases().find(|peer| {
        let busy = peer.waiting.map_or(peer.connections > 0.5, |waiting| waiting > 0.5 * held.min(peer.connections));
        let all_wait = peer.waiting.is_some_and(|waiting| waiting > ALL_WAIT * peer.connections);
        busy && (peer.connections < 2.0 * held + 2.0 || all_wait)
    })
}

/// One whose connections are as many as requests go on, and which each request asks, though it is not seen to be waited for: where
/// questions are acknowledged at once and the next follows an answer at once, TCP does not tell which of them came last.
fn pool_of_as_many<'w>(ward: &'w Ward<'_>, held: f64) -> Option<&'w PeerUse> {
    ward.figures.databases().find(|peer| {
        let is_asked = ward.figures.trips_per_request(peer).is_some_and(|trips| trips > 0.5);
        // A single one may be shared by all requests.
        is_asked && peer.connections > ONE && (peer.connections - held).abs() <= 0.25 * held + 0.3
    })
}

fn pooled(ward: &Ward<'_>, peer: &PeerUse, held: f64, confidence: Confidence) -> Verdict {
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
            .filter(|waiting| *waiting > 0.5)
            .map(|waiting| format!("on {waiting:.1} of them an answer was waited for at a time")),
    )
    .advice(format!("enlarge the pool beyond {held:.0} connections, as far as the database takes them"))
    .advice("make the queries faster: each connection then does more of them")
    .gain(ward.bounds().gain((2.0, 2.0), "with a pool twice as large"))
}

fn workers(ward: &Ward<'_>, held: f64, confidence: Confidence) -> Verdict {
    let cores = ward.figures.cores();
    let verdict = match held < ONE {
        true => Verdict::new(
            Factor::Workers,
            confidence,
            "One worker takes one request after another, and waits while it has one.",
        ),
        false => Verdict::new(
            Factor::Workers,
            confidence,
            format!("All of {} workers are taken, and wait: CPU is free.", many(ward, held)),
        ),
    };
    verdict
        .advice(match cores {
            Some(cores) if held >= MANY_WAITING * cores as f64 => {
                "run more workers still, as far as memory and what they wait for allow; or let them wait asynchronously"
                    .into()
            }
            Some(cores) => format!("run more workers: where they wait, 4 to 8 for each of the {cores} CPUs"),
            None => "run more workers: where they wait, 4 to 8 for each CPU".into(),
        })
        .gain(gain::by_waiting_workers(&ward.bounds().with_more_threads(), number_of_workers(ward, held), cores))
}

/// How many workers there are: as many as threads hold a request, or about as many as go on at a time.
fn many(ward: &Ward<'_>, held: f64) -> String {
    match ward.figures.holding() {
        0 => format!("about {held:.0}"),
        holding => holding.to_string(),
    }
}

/// The same as a number.
fn number_of_workers(ward: &Ward<'_>, held: f64) -> f64 {
    match ward.figures.holding() {
        0 => held.round(),
        holding => holding as f64,
    }
}

/// Returns the gain without the lock: as many requests at a time as there are threads that take turns at it, or else as many as the
/// server has read.
fn without_lock(ward: &Ward<'_>, held: f64) -> Gain {
    let change = "once requests do not exclude each other";
    let at_a_time = match ward.figures.taking_turns() {
        0 | 1 => ward.figures.in_service().filter(|hands| *hands >= 1.0),
        turns => Some(turns as f64),
    };
    match at_a_time {
        Some(at_a_time) => ward.bounds().gain((at_a_time / held, at_a_time / held), change),
        None => Gain::unknown(
            format!("more throughput {change}"),
            "how many requests the server works on then was not seen",
        ),
    }
}

/// From a machine that shows nothing, waiting and working look alike: a scheduler lets others pass while the CPU is full, too.
fn unseen(ward: &Ward<'_>, held: f64) -> Verdict {
    let told = evidence(ward, held);
    let verdict = Verdict::new(
        Factor::Unknown,
        Confidence::Unknown,
        "The service does no more than so much at a time; whether it works or waits meanwhile cannot \
         be seen from here.",
    )
    .advice("run 'torr watch' on the server's machine and give its address with --watch");
    told.into_iter().fold(verdict, Verdict::because)
}
