//! The service is saturated and nothing is busy: its requests wait for each other. How many go on at a time, whether others
//! wait as well, and where they wait tell for what.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::gain;
use crate::rules::cpu::round_trips;
use crate::rules::held_back::with_bucket;
use crate::rules::in_service::{held, more_than, range};
use crate::rules::{pooler, serialised, waits_for};
use crate::thresholds::{
    AS_MANY_CONNECTIONS, AS_MANY_THREADS, COMPUTES, LEAST_HELD, MANY_WAITING_WORKERS, MOST_WAIT, MOSTLY_IDLE,
    NO_MORE_IN_HAND, NOT_KEPT, ONE, PARTLY_LOCKED, POOL_IN_USE, QUERIED_BY_EACH, WHOLE_POOL, WORKS,
};
use crate::witnesses::peer_connections;
use torr_gauge::verdict::{Advice, Change, Fact, Finding, Headline, Promise, UnknownGain, WorkerCount};
use torr_gauge::{Confidence, Factor};
use torr_signals::{PeerUse, Role};

pub fn rule(evidence: &Evidence) -> Step {
    let figures = &evidence.figures;
    let held = held(figures);
    if held < LEAST_HELD || figures.wants_cpu() || figures.has_most_of_full_machine() {
        return Ok(None);
    }
    // A thread that computes most of the time does not wait, whatever a time alone that a disturbance spoiled makes of the ratio; but for
    // threads that share one CPU in turns.
    let computes = figures.worker_demand() >= WORKS && !serialised::computes_in_turns(figures);
    if computes && by_threads(evidence, held).is_none() {
        return Ok(None);
    }
    if let Some(finding) = round_trips(evidence) {
        return Ok(Some(finding));
    }
    let Some(inside) = waits_inside(evidence, held) else { return Ok(Some(unseen(evidence, held))) };
    let Some(used) = figures.server_cores() else { return Ok(Some(unseen(evidence, held))) };
    let computes_in_turns = inside && !waits_for_database(evidence, held) && serialised::computes_in_turns(figures);
    if used > COMPUTES * held && by_threads(evidence, held) != Some(true) && !computes_in_turns {
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
    let is_idle = figures.worker_demand() < MOSTLY_IDLE || by_threads(evidence, held).is_some();
    let is_certain = agree && is_seen && is_accepted && is_idle;
    let confidence = if is_certain { Confidence::Certain } else { Confidence::Likely };
    let is_shown = computes_in_turns || by_threads(evidence, held).is_some() || has_pool(evidence, held);
    if inside
        && !is_shown
        && let Some(limiter) = with_bucket(evidence)?
    {
        return Ok(Some(limiter));
    }
    let each_connects = evidence.full().opened_per_request() >= NOT_KEPT;
    if !is_shown && each_connects && figures.weather.is_some_and(|weather| weather.has_changed()) {
        // Only a ratio of experiments tells, which are not comparable, and connections may be accepted at a pace.
        return Ok(None);
    }
    let finding = match inside {
        false => workers(evidence, held, confidence),
        // A pool whose requests compute may use about one CPU by accident: only threads that take turns prove a lock.
        true if computes_in_turns && by_threads(evidence, held) != Some(true) => {
            serialised::finding(evidence, Confidence::Likely)
        }
        true if computes_in_turns => serialised::finding(evidence, confidence),
        true => held_inside(evidence, held, confidence),
    };
    let finding = for_a_lock(evidence, held, finding);
    let resolves = waits_for::resolves_names(figures, held);
    let finding = if resolves { finding.advice(Advice::ResolveLess) } else { finding };
    let further = witnesses(evidence, held).into_iter().filter(|fact| !is_evidence(&finding, fact));
    let further: Vec<_> = further.collect();
    Ok(Some(finding.because(further)))
}

/// Returns the finding on a few requests at a time with the advice for a lock, if it may be one: threads take turns, and a lock that is
/// held for a part of each request lets in a number that is no whole one.
fn for_a_lock(evidence: &Evidence, held: f64, finding: Finding) -> Finding {
    let is_pool = (held - held.round()).abs() <= WHOLE_POOL;
    if finding.confidence == Confidence::Certain || !(ONE..PARTLY_LOCKED).contains(&held) || is_pool {
        return finding;
    }
    let advises_pool = finding.advice.iter().any(|advice| matches!(advice, Advice::FindPool { .. }));
    if !advises_pool || evidence.figures.taking_turns() < 2 {
        return finding;
    }
    Finding { advice: vec![Advice::ShortenLock, Advice::FindPool { size: held }], ..finding }
        .gain(Promise::unknown(Change::NoLock, UnknownGain::ConcurrencyNotSeen))
}

/// Returns whether a finding already has a fact about the requests in flight at the same peer.
fn is_evidence(finding: &Finding, fact: &Fact) -> bool {
    let Fact::PeerInFlight { mean: further, .. } = fact else { return false };
    finding.because.iter().any(|known| matches!(known, Fact::PeerInFlight { mean, .. } if mean == further))
}

/// Returns whether the connections to a database are in use, in a pool of the service or of a pooler.
fn waits_for_database(evidence: &Evidence, held: f64) -> bool {
    pool(evidence, held).is_some() || pooler::in_use(evidence, held).is_some()
}

/// Returns whether connections of the server to a service behind it show what requests wait for.
fn has_pool(evidence: &Evidence, held: f64) -> bool {
    let is_held = || waits_for::held_during_call(&evidence.figures, held).is_some();
    waits_for_database(evidence, held) || pool_of_as_many(evidence, held).is_some() || is_held()
}

/// Returns the finding on what requests hold inside the server, of which `held` are in service.
fn held_inside(evidence: &Evidence, held: f64, confidence: Confidence) -> Finding {
    if let Some(pooler) = pooler::in_use(evidence, held) {
        return pooler::finding(evidence, pooler, confidence);
    }
    if let Some(peer) = pool(evidence, held) {
        return pooled(evidence, peer, held, confidence);
    }
    if let Some((peer, fact)) = waits_for::held_during_call(&evidence.figures, held) {
        return Finding::new(Factor::Database, Confidence::Likely, Headline::PoolInUse)
            .because(peer_connections(peer))
            .because(fact)
            .advice(Advice::ReleaseBeforeCall)
            .advice(Advice::LargerPool { connections: held })
            .gain(evidence.bounds().gain((2.0, 2.0), Change::TwiceThePool));
    }
    if let Some(peer) = pool_of_as_many(evidence, held) {
        return pooled(evidence, peer, held, Confidence::Likely);
    }
    if held < ONE {
        return Finding::new(Factor::Lock, confidence, Headline::Lock)
            .advice(Advice::ShortenLock)
            .gain(without_lock(evidence, held));
    }
    let past_lock = evidence.figures.past_lock(held);
    if past_lock.is_some_and(|past| past < ONE) {
        // More requests are in service, but only one of the threads that contend is past what they wait for. How many would be without
        // the lock is not seen.
        return Finding::new(Factor::Lock, Confidence::Likely, Headline::Lock)
            .advice(Advice::ShortenLock)
            .gain(Promise::unknown(Change::NoLock, UnknownGain::ConcurrencyNotSeen));
    }
    // A number that was counted is better than a ratio of times. A limiter of that rate looks alike.
    let size = past_lock.unwrap_or(held);
    Finding::new(Factor::Pool, Confidence::Likely, Headline::Pool { size })
        .advice(Advice::FindPool { size })
        .gain(evidence.bounds().gain((2.0, 2.0), Change::TwiceTheLimit))
}

fn witnesses(evidence: &Evidence, held: f64) -> Vec<Fact> {
    let figures = &evidence.figures;
    let at_a_time = Fact::AtATime {
        connections: figures.ladder.saturated_from().unwrap_or(1),
        rps: figures.ladder.most(),
        alone_s: figures.service_s(),
        at_a_time: held,
        range: range(figures, held),
    };
    let light = figures.cheap.as_ref().zip(figures.beside).zip(figures.others_wait());
    let light = light.map(|((cheap, beside), waits)| Fact::LightLoad {
        connections: beside.connections,
        request: cheap.what,
        response_s: beside.response_s,
        alone_s: cheap.alone_s,
        waits,
    });
    let threads = match (figures.holding(), figures.taking_turns()) {
        (threads @ 1.., _) => Some(Fact::ThreadsBlocked { threads }),
        (0, threads @ 2..) if held < ONE => Some(Fact::ThreadsTakeTurns { threads }),
        _ => None,
    };
    let in_service = figures.in_service().filter(|hands| hands.round() > 0.0);
    let in_service =
        in_service.map(|hands| Fact::InService { requests: hands.round(), of: figures.connections as f64 });
    let seen = [Some(at_a_time), figures.server_cpu(), light, threads, in_service].into_iter().flatten();
    seen.chain(waits_for::facts(figures, held)).collect()
}

/// Returns whether requests wait inside the server, for something that others do not need, rather than before it.
fn waits_inside(evidence: &Evidence, held: f64) -> Option<bool> {
    by_threads(evidence, held)
        .or_else(|| contend(evidence, held))
        .or_else(|| evidence.figures.others_wait().map(|wait| !wait))
        .or_else(|| by_hands(evidence, held))
}

/// Returns whether requests wait inside the server, by what its threads wait for: as many threads block with a request as requests are
/// in service, or several contend for a lock.
pub fn by_threads(evidence: &Evidence, held: f64) -> Option<bool> {
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

/// Returns `Some(true)` if far more threads have a request than requests are in service: they wait for a semaphore or for a service behind the
/// server. With all threads taken others wait as well, though not for a lack of threads.
fn contend(evidence: &Evidence, held: f64) -> Option<bool> {
    let threads = evidence.figures.taking_turns().max(evidence.figures.holding()) as f64;
    (threads > more_than(held) && by_hands(evidence, held) == Some(true)).then_some(true)
}

/// Returns whether requests wait inside the server, by the number of requests in the server: more than those in service, or no more.
pub fn by_hands(evidence: &Evidence, held: f64) -> Option<bool> {
    let (hands, connections) = (evidence.figures.in_service()?, evidence.figures.connections as f64);
    let more = more_than(held);
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
        busy && (peer.connections < more_than(held) || all_wait)
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

fn pooled(evidence: &Evidence, peer: &PeerUse, held: f64, confidence: Confidence) -> Finding {
    let in_flight = peer.waiting.filter(|waiting| *waiting > MOST_WAIT);
    Finding::new(Factor::Database, confidence, Headline::PoolInUse)
        .because(peer_connections(peer))
        .because(in_flight.map(|mean| Fact::PeerInFlight {
            peer: peer.address.clone(),
            mean,
            connections: peer.connections,
        }))
        .advice(Advice::LargerPool { connections: held })
        .advice(if peer.role == Role::Cache { Advice::FewerCommands } else { Advice::FasterQueries })
        .gain(evidence.bounds().gain((2.0, 2.0), Change::TwiceThePool))
}

fn workers(evidence: &Evidence, held: f64, confidence: Confidence) -> Finding {
    let cores = evidence.figures.cores();
    let count = match evidence.figures.holding() {
        0 => WorkerCount::About(held),
        holding => WorkerCount::Exactly(holding),
    };
    let headline = if held < ONE { Headline::OneWorker } else { Headline::WorkersBlocked(Some(count)) };
    Finding::new(Factor::Workers, confidence, headline)
        .advice(match cores {
            _ if held < ONE && evidence.figures.is_event_loop() => Advice::UnblockLoop,
            Some(cores) if held >= MANY_WAITING_WORKERS * cores as f64 => Advice::StillMoreWorkers,
            cores => Advice::MoreBlockingWorkers { cores },
        })
        .gain(gain::by_waiting_workers(
            &evidence.bounds().with_more_threads(),
            number_of_workers(evidence, held),
            cores,
        ))
}

/// Returns the number of workers.
fn number_of_workers(evidence: &Evidence, held: f64) -> f64 {
    match evidence.figures.holding() {
        0 => held.round(),
        holding => holding as f64,
    }
}

/// Returns the gain without the lock: as many requests at a time as there are threads that take turns at it, or else as many as the
/// server has read. Where threads are fewer than those requests, tasks wait rather than threads.
fn without_lock(evidence: &Evidence, held: f64) -> Promise {
    let figures = &evidence.figures;
    let hands = figures.in_service().filter(|hands| *hands >= 1.0);
    let threads: usize = figures.processes().map(|process| process.threads.len()).sum();
    let at_a_time = match figures.taking_turns() {
        0 | 1 => hands,
        _ if hands.is_some_and(|hands| hands > threads as f64) => hands,
        turns => Some(turns as f64),
    };
    match at_a_time {
        Some(at_a_time) => evidence.bounds().gain((at_a_time / held, at_a_time / held), Change::NoLock),
        None => Promise::unknown(Change::NoLock, UnknownGain::ConcurrencyNotSeen),
    }
}

/// From a machine that shows nothing, waiting and working look alike: a scheduler lets others pass while the CPU is full, too.
fn unseen(evidence: &Evidence, held: f64) -> Finding {
    Finding::new(Factor::Unknown, Confidence::Unknown, Headline::Unseen)
        .because(witnesses(evidence, held))
        .because(evidence.setting.hidden_namespace.then_some(Fact::OtherNamespace))
        .advice(if evidence.setting.hidden_namespace { Advice::LookAsRoot } else { Advice::WatchServer })
}
