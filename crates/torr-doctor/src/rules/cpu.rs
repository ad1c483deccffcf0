//! The server is busy: all CPU that it can use, one thread of several, or what its ORM makes of a query.

use crate::evidence::Evidence;
use crate::experiment::Step;
use crate::figures::{Figures, server_fills};
use crate::gain;
use crate::thresholds::{
    ALL_CPU, FLAT, FULL_THREAD, GENERATOR_TAKES, HANDLERS_WORK, MACHINE_FULL, MOST_WAIT, MOSTLY_ONE_THREAD, NEAR_NULL,
    NEARLY_ALL_CPU, ONE_CORE, ONE_THREADS_SERVER, OTHERS_DISTURB, QUERIED_BY_EACH, QUERY_VARIES, QUOTA_USED, THROTTLED,
};
use crate::witnesses::{rows_for_little, rows_one_by_one};
use torr_gauge::verdict::{Advice, Change, Fact, Finding, Headline, Promise, UnknownGain};
use torr_gauge::{Confidence, Factor};
use torr_signals::Role;

pub fn rule(evidence: &Evidence) -> Step {
    if let Some(finding) = database(evidence) {
        return Ok(Some(finding));
    }
    let Some(seen) = Seen::of(evidence) else { return Ok(None) };
    let finding = match seen.uses_one_cpu() {
        true => one_thread(&seen),
        false => all_cpu(&seen).or_else(|| generator(&seen)).or_else(|| saturated_threads(&seen)),
    };
    Ok(finding.map(|finding| with_orm(&seen, finding)))
}

/// The CPU use of the server and of its machine, with what all rules of this file read.
struct Seen<'e> {
    evidence: &'e Evidence,
    figures: &'e Figures,
    /// CPU that the server used, in cores.
    used: f64,
    /// CPUs that the server may use.
    cores: usize,
    /// The share of the machine's CPU that all programs used.
    machine: f64,
    /// The server's saturated threads.
    full: usize,
    /// Whether the machine has free CPU.
    is_free: bool,
}

impl<'e> Seen<'e> {
    /// Returns the CPU use under the user's load. `None` if the server's machine is not visible.
    fn of(evidence: &'e Evidence) -> Option<Self> {
        let figures = &evidence.figures;
        let (used, cores, machine) = (figures.server_cores()?, figures.cores()?, figures.machine_share()?);
        let (full, is_free) = (figures.full_threads(), machine < MACHINE_FULL);
        Some(Self { evidence, figures, used, cores, machine, full, is_free })
    }

    /// Returns whether the server uses one of several CPUs: with one thread, or with threads that run in turns.
    fn uses_one_cpu(&self) -> bool {
        let Self { figures, used, cores, full, is_free, .. } = *self;
        let mostly_one = full == 1
            && figures.busiest_thread().is_some_and(|thread| thread.cores >= MOSTLY_ONE_THREAD * used)
            && !figures.another_starves();
        let shared = used >= ONE_CORE.0 && figures.least_server_cores().is_some_and(|used| used <= ONE_CORE.1);
        let by_one = mostly_one && used < ONE_THREADS_SERVER.1 && (is_free || used >= ONE_THREADS_SERVER.0);
        cores > 1 && (by_one || full == 0 && is_free && shared)
    }

    /// Returns a finding with the course of throughput and its confidence as far as that tells.
    fn finding(&self, factor: Factor, headline: Headline, facts: impl IntoIterator<Item = Fact>) -> Finding {
        let flat = flatness(self.evidence);
        let is_flat = flat.as_ref().is_some_and(|(is_flat, _)| *is_flat);
        let confidence = if is_flat { Confidence::Certain } else { Confidence::Likely };
        Finding::new(factor, confidence, headline).because(facts).because(flat.map(|(_, fact)| fact))
    }

    /// Returns how the CPU of the machine is split, as evidence.
    fn split(&self) -> Fact {
        Fact::CpuSplit {
            server_cores: self.used,
            generator_cores: self.figures.generator_there(),
            cores: self.cores,
            machine_share: self.machine,
        }
    }

    fn threads(&self) -> Fact {
        Fact::SaturatedThreads { threads: self.full, cores: Some(self.cores) }
    }

    /// Returns whether the machine is saturated, and the server's threads wait for a CPU.
    fn wants_cpu(&self) -> bool {
        !self.is_free && self.figures.wants_cpu()
    }
}

/// One thread does all the work, or threads run in turns.
fn one_thread(seen: &Seen<'_>) -> Option<Finding> {
    let Seen { figures, used, cores, full, is_free, .. } = *seen;
    let facts = figures.server_cpu().into_iter().chain([seen.threads()]);
    if full == 1 && figures.idle_workers > 0 {
        let workers = figures.idle_workers;
        // That workers are idle was seen twice, but no experiment spread the connections.
        let finding = seen.finding(Factor::SingleCore, Headline::UnevenWorkers, facts);
        return Some(
            Finding { confidence: Confidence::Likely, ..finding }
                .because(Fact::IdleWorkers { workers })
                .advice(Advice::SpreadConnections)
                .gain(gain::by_workers(figures, cores.min(workers + 1) as f64)),
        );
    }
    if full == 0 && figures.others_wait() == Some(false) {
        // Many threads of which one at a time works: they take turns at something that others do not need.
        return None;
    }
    let headline = match full {
        0 => Headline::OneCpuShared,
        _ => Headline::OneThread { cpu_is_free: is_free },
    };
    let finding = seen.finding(Factor::SingleCore, headline, facts);
    // Workers, a lock or a link can use about one CPU in all by accident: only a full thread proves that one is the limit.
    let confidence = if full == 0 { Confidence::Likely } else { finding.confidence };
    Some(
        Finding { confidence, ..finding }
            .because(is_free.then(|| figures.machine_cpu()).flatten())
            .advice(Advice::MoreWorkers { workers: cores })
            .gain(gain::by_workers(figures, cores as f64 / used.max(1.0))),
    )
}

/// The server uses all CPU that it can use.
fn all_cpu(seen: &Seen<'_>) -> Option<Finding> {
    let Seen { figures, used, machine, full, .. } = *seen;
    let (cores, generator) = (seen.cores as f64, figures.generator_there());
    let uses_all = used >= ALL_CPU * cores
        || (full >= seen.cores && used >= NEARLY_ALL_CPU * cores)
        || figures.has_most_of_full_machine()
        || (seen.wants_cpu() && server_fills(used, generator));
    if !uses_all {
        return None;
    }
    let others = machine * cores - used - generator;
    let nothing_better = figures.null_rps.is_some_and(|null| figures.rps() > NEAR_NULL * null);
    let doubtful = nothing_better || machine < MACHINE_FULL || others > OTHERS_DISTURB * cores;
    let finding = seen.finding(Factor::ServerCpu, Headline::AllCpu, seen.split());
    let confidence = if doubtful { Confidence::Likely } else { finding.confidence };
    let (advice, gain) = if generator > GENERATOR_TAKES * cores {
        let (low, high) = gain::in_proportion((used + generator) / used);
        (Advice::OtherMachine, gain::promised(low, high, Change::CpuOfGenerator))
    } else {
        let all = used + generator + figures.peer_cores();
        (Advice::Profile, gain::by_half(used, all, Change::CheaperRequests))
    };
    Some(
        Finding { confidence, ..finding }
            .because(figures.null_service())
            .because(handler(seen.evidence))
            .advice(Advice::CheaperRequests)
            .advice(advice)
            .gain(gain),
    )
}

/// The generator uses most of a saturated machine.
fn generator(seen: &Seen<'_>) -> Option<Finding> {
    let is_generators = seen.wants_cpu() && seen.figures.generator_there() > seen.used;
    is_generators.then(|| {
        let finding = seen.finding(Factor::Generator, Headline::GeneratorFillsMachine, seen.split());
        Finding { confidence: Confidence::Likely, ..finding }
            .because(seen.figures.null_service())
            .advice(Advice::OtherMachine)
            .gain(super::generator::not_at_its_limit())
    })
}

/// Several threads are saturated while CPU is free.
fn saturated_threads(seen: &Seen<'_>) -> Option<Finding> {
    let Seen { figures, cores, full, .. } = *seen;
    (full >= 2 && seen.is_free).then(|| {
        let finding = seen.finding(Factor::Workers, Headline::ThreadsSaturated, seen.threads());
        // As many full threads as CPUs leave none for another worker, whatever the machine shows.
        let confidence = if full >= cores { Confidence::Likely } else { finding.confidence };
        Finding { confidence, ..finding }
            .because(figures.machine_cpu())
            .advice(Advice::MoreWorkers { workers: cores })
            .gain(gain::by_workers(figures, cores as f64 / full as f64))
    })
}

/// Returns the finding on a busy server as one on its ORM, if that is where its CPU goes.
fn with_orm(seen: &Seen<'_>, finding: Finding) -> Finding {
    let figures = seen.figures;
    let asks =
        figures.databases().any(|peer| figures.trips_per_request(peer).is_some_and(|trips| trips > QUERIED_BY_EACH));
    match orm(seen.evidence, seen.used) {
        Some(orm) if finding.factor != Factor::Generator => orm,
        // Which part of the CPU is the way to the database's is not known.
        _ if asks => Finding { confidence: Confidence::Likely, ..finding }.advice(Advice::ComparePaths),
        _ => finding,
    }
}

/// Returns whether throughput stays flat with more connections, and that as evidence. `None` if they were not tried.
fn flatness(evidence: &Evidence) -> Option<(bool, Fact)> {
    let (from, last) = (evidence.figures.ladder.saturated_from()?, evidence.figures.ladder.0.last()?);
    let flat = (FLAT.0..FLAT.1).contains(&(last.rps / evidence.figures.rps().max(1e-9)));
    let to = (last.connections > from).then_some(last.connections);
    Some((flat && to.is_some(), Fact::ThroughputFlat { rps: evidence.figures.ladder.most(), from, to }))
}

/// Returns what the server reaches without the handler's work.
fn handler(evidence: &Evidence) -> Option<Fact> {
    let target_s = evidence.figures.alone_median_s;
    let cheap = evidence.figures.cheap.as_ref().filter(|cheap| cheap.alone_s < HANDLERS_WORK * target_s)?;
    Some(Fact::Handler { request: cheap.what, seconds: cheap.alone_s, target_s })
}

/// The database is what is busy.
fn database(evidence: &Evidence) -> Option<Finding> {
    let figures = &evidence.figures;
    let peer = figures.databases().max_by(|a, b| a.cores().total_cmp(&b.cores()))?;
    let (theirs, ours) = (peer.cores(), figures.server_cores().unwrap_or(0.0));
    let cores = figures.cores().unwrap_or(1) as f64;
    let threads = peer.processes.iter().flat_map(|process| &process.threads);
    let full = threads.filter(|thread| thread.cores >= FULL_THREAD).count();
    let fills = theirs >= NEARLY_ALL_CPU * cores
        || figures.machine_share().is_some_and(|share| share >= MACHINE_FULL)
        || full > 0;
    // A quota of its own stops a database as well: it uses that up, or has not answered on most of its connections.
    let waits = peer.waiting.is_some_and(|waiting| waiting > MOST_WAIT * peer.connections && waiting > MOST_WAIT);
    let quotas = peer.processes.iter().filter_map(|process| process.quota.as_ref());
    let throttled = quotas
        .filter(|quota| quota.throttled_share() > THROTTLED)
        .any(|quota| waits || theirs >= QUOTA_USED * quota.cores);
    if !(throttled || fills && theirs > ours && theirs > figures.generator_there()) {
        return None;
    }
    if let Some(finding) = round_trips(evidence) {
        return Some(finding);
    }
    let is_cache = peer.role == Role::Cache;
    let (handler, flat) = (handler(evidence), flatness(evidence));
    let is_certain = handler.is_some() && flat.as_ref().is_some_and(|(flat, _)| *flat);
    let confidence = if is_certain { Confidence::Certain } else { Confidence::Likely };
    Some(
        Finding::new(Factor::Database, confidence, Headline::DatabaseBusy)
            .because(Fact::PeerCpu { peer: peer.label(), cores: theirs, server_cores: ours })
            .because(throttled.then(|| Fact::PeerThrottled { peer: peer.label() }))
            .because(flat.map(|(_, fact)| fact))
            .because(handler)
            .advice(if is_cache { Advice::SlowCommands } else { Advice::SlowQueries })
            .advice(if is_cache { Advice::FewerCommands } else { Advice::CacheReads })
            .gain(match fills && full == 0 {
                true => gain::by_half(theirs, theirs + ours + figures.generator_there(), Change::CheaperQueries),
                false => evidence.bounds().gain((2.0, 2.0), Change::CheaperQueries),
            }),
    )
}

/// One query for each row of another.
pub fn round_trips(evidence: &Evidence) -> Option<Finding> {
    let (finding, trips) = rows_one_by_one(&evidence.figures)?;
    let alone_s = evidence.figures.service_s();
    Some(
        finding
            .because(Fact::TripTime { alone_s, each_s: alone_s / trips })
            .because(evidence.figures.server_cpu())
            .gain(with_one_query(evidence, trips)),
    )
}

/// Returns the gain of one query instead of `trips`. Of a request's time the part that a cheap path takes too remains, and one of the
/// queries, which may cost as much as the rest together.
fn with_one_query(evidence: &Evidence, trips: f64) -> Promise {
    let Some(cheap) = &evidence.figures.cheap else {
        return Promise::unknown(Change::OneQuery, UnknownGain::QueryCost);
    };
    let service = evidence.figures.service_s();
    let most = service / (cheap.alone_s + service / trips).min(service);
    gain::promised(most / QUERY_VARIES, most.min(evidence.bounds().null_at_most()), Change::OneQuery)
}

/// The server's CPU goes into what it makes of the database's rows.
fn orm(evidence: &Evidence, used: f64) -> Option<Finding> {
    let figures = &evidence.figures;
    if let Some(finding) = round_trips(evidence) {
        return Some(finding);
    }
    let (peer, fetched) = rows_for_little(figures, evidence.full().bytes_per_request())?;
    let handler = handler(evidence)?;
    Some(
        Finding::new(Factor::Orm, Confidence::Likely, Headline::RowsForLittle)
            .because(fetched)
            .because(Fact::PeerCpu { peer: peer.label(), cores: peer.cores(), server_cores: used })
            .because(handler)
            .advice(Advice::FewerRows)
            .gain(Promise::unknown(Change::RawDriver, UnknownGain::NotTried)),
    )
}
