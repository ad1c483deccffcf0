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
use crate::words::{counted, percent, rate, time};
use torr_gauge::{Confidence, Factor, Gain, Verdict};

/// The change that a busy database's gain is for.
const HALF_THE_COST: &str = "with queries that cost half";

pub fn rule(evidence: &Evidence) -> Step {
    if let Some(verdict) = database(evidence) {
        return Ok(Some(verdict));
    }
    let (Some(used), Some(cores), Some(machine)) =
        (evidence.figures.server_cores(), evidence.figures.cores(), evidence.figures.machine_share())
    else {
        return Ok(None);
    };
    let full = evidence.figures.full_threads();
    let (is_free, wants) = (machine < MACHINE_FULL, evidence.figures.wants_cpu());
    let flat = flatness(evidence);
    let (sure, because) = (sure(flat.as_ref()), flat.map(|(_, because)| because));
    let mostly_one = full == 1
        && evidence.figures.busiest_thread().is_some_and(|thread| thread.cores >= MOSTLY_ONE_THREAD * used)
        && !evidence.figures.another_starves();
    let shared = used >= ONE_CORE.0 && evidence.figures.least_server_cores().is_some_and(|used| used <= ONE_CORE.1);
    let one = mostly_one && used < ONE_THREADS_SERVER.1 && (is_free || used >= ONE_THREADS_SERVER.0)
        || full == 0 && is_free && shared;
    let verdict = if one && cores > 1 && full == 1 && evidence.figures.idle_workers > 0 {
        uneven(&evidence.figures, used, cores).because_if(because)
    } else if one && cores > 1 {
        if full == 0 && evidence.figures.others_wait() == Some(false) {
            // Many threads of which one at a time works: they take turns at something that others do not need.
            return Ok(None);
        }
        let summary = match full {
            0 => "The server's threads share one CPU, though there are more: something lets only one of them run.",
            _ if is_free => "One thread of the server does all the work and is full, while other CPUs are free.",
            _ => "One thread of the server does all the work and is full: it can use one CPU only.",
        };
        // Workers, a lock or a link can use about one CPU in all by accident: only a full thread proves that one is the limit.
        let sure = if full == 0 { Confidence::Likely } else { sure };
        Verdict::new(Factor::SingleCore, sure, summary)
            .because(match full {
                0 => format!("the server used {used:.2} of {cores} CPUs, and none of its threads was full"),
                _ => format!("the server used {used:.2} of {cores} CPUs, with {} full", counted(full, "thread")),
            })
            .because_if(because)
            .because_if(is_free.then(|| format!("the machine's CPUs were used to {} only", percent(machine))))
            .advice(format!("run more workers: one for each of the {cores} CPUs"))
            .gain(gain::by_workers(&evidence.figures, cores as f64 / used.max(1.0)))
    } else if used >= ALL_CPU * cores as f64
        || (full >= cores && used >= NEARLY_ALL_CPU * cores as f64)
        || (machine >= MACHINE_FULL && wants && server_fills(used, evidence.figures.generator_there()))
    {
        let (generator, others) =
            (evidence.figures.generator_there(), machine * cores as f64 - used - evidence.figures.generator_there());
        let shared = generator > GENERATOR_TAKES * cores as f64;
        let nothing_better = evidence.figures.null_rps.is_some_and(|null| evidence.figures.rps() > NEAR_NULL * null);
        let doubtful = nothing_better || machine < MACHINE_FULL || others > OTHERS_DISTURB * cores as f64;
        let confidence = if doubtful { Confidence::Likely } else { sure };
        Verdict::new(Factor::ServerCpu, confidence, "The server uses all CPU that there is for it.")
            .because(format!(
                "it used {used:.2} of {}, the generator {generator:.2}, and the machine was used to {}",
                counted(cores, "CPU"),
                percent(machine)
            ))
            .because_if(because)
            .because_if(evidence.figures.yardstick_text())
            .because_if(handler(evidence))
            .advice("make requests cheaper, or give the server more CPU")
            .advice(if shared {
                "run the generator on another machine, where it takes no CPU from the server"
            } else {
                "a profile of the server under this load shows where its time goes"
            })
            .gain(if shared {
                let (low, high) = gain::in_proportion((used + generator) / used);
                gain::promised(low, high, "with the generator's CPU")
            } else {
                gain::by_half(
                    used,
                    used + generator + evidence.figures.peer_cores(),
                    "with requests that cost half the CPU",
                )
            })
    } else if machine >= MACHINE_FULL && wants && evidence.figures.generator_there() > used {
        Verdict::new(
            Factor::Generator,
            Confidence::Likely,
            "The machine's CPU is used up, most of it by the load generator.",
        )
        .because(format!(
            "the generator used {:.2} of {}, the server {used:.2}",
            evidence.figures.generator_there(),
            counted(cores, "CPU")
        ))
        .because_if(because)
        .because_if(evidence.figures.yardstick_text())
        .advice("run the generator on another machine, where it takes no CPU from the server")
        .gain(super::generator::not_at_its_limit())
    } else if full >= 2 && is_free {
        // As many full threads as CPUs leave none for another worker, whatever the machine shows.
        let sure = if full >= cores { Confidence::Likely } else { sure };
        Verdict::new(Factor::Workers, sure, "All busy threads of the server are full, while CPU is free.")
            .because(format!("{full} threads of the server were full, on {cores} CPUs"))
            .because_if(because)
            .because(format!("the machine's CPUs were used to {} only", percent(machine)))
            .advice(format!("run more workers: one for each of the {cores} CPUs"))
            .gain(gain::by_workers(&evidence.figures, cores as f64 / full as f64))
    } else {
        return Ok(None);
    };
    let asks = evidence
        .figures
        .databases()
        .any(|peer| evidence.figures.trips_per_request(peer).is_some_and(|trips| trips > QUERIED_BY_EACH));
    Ok(Some(match orm(evidence, used) {
        Some(orm) if verdict.factor != Factor::Generator => orm,
        // Which part of the CPU is the way to the database's is not known.
        _ if asks => Verdict { confidence: Confidence::Likely, ..verdict }
            .advice("compare ways to the same data with 'torr doctor' and '--paths', to see what of it is the ORM's"),
        _ => verdict,
    }))
}

/// One worker has what others could do.
fn uneven(figures: &Figures, used: f64, cores: usize) -> Verdict {
    let idle = figures.idle_workers;
    let summary = "One worker of the server has nearly all connections and is full, while others idle.";
    Verdict::new(Factor::SingleCore, Confidence::Likely, summary)
        .because(format!("the server used {used:.2} of {cores} CPUs, with 1 thread full"))
        .because(format!(
            "{} had little to do, and with other connections again, though not under other loads",
            counted(idle, "more worker")
        ))
        .advice(
            "let the kernel spread connections over the workers, if it does not yet: SO_REUSEPORT ('listen ... reuseport' in nginx), and \
             no worker that accepts all that wait ('multi_accept', 'accept_mutex')",
        )
        .gain(gain::by_workers(figures, cores.min(idle + 1) as f64))
}

/// Returns whether throughput stays flat with more connections, and that in words. `None` if they were not tried.
fn flatness(evidence: &Evidence) -> Option<(bool, String)> {
    let (first, last) = (evidence.figures.ladder.saturated_from()?, evidence.figures.ladder.0.last()?);
    let flat = (FLAT.0..FLAT.1).contains(&(last.rps / evidence.figures.rps().max(1e-9)));
    let (most, first_text) = (rate(evidence.figures.ladder.most()), counted(first, "connection"));
    let because = match last.connections {
        last if last > first => format!("from {first_text} on throughput stays at {most}, up to {last}"),
        _ => format!("throughput reached {most}, with {first_text}"),
    };
    Some((flat && last.connections > first, because))
}

fn sure(flat: Option<&(bool, String)>) -> Confidence {
    if flat.is_some_and(|(flat, _)| *flat) { Confidence::Certain } else { Confidence::Likely }
}

/// Returns what the server reaches without the handler's work.
fn handler(evidence: &Evidence) -> Option<String> {
    let cheap = evidence
        .figures
        .cheap
        .as_ref()
        .filter(|cheap| cheap.alone_s < HANDLERS_WORK * evidence.figures.alone_median_s)?;
    Some(format!(
        "{} takes {} where the target takes {}: it is the handler's work",
        cheap.what,
        time(cheap.alone_s),
        time(evidence.figures.alone_median_s)
    ))
}

/// The database is what is busy.
fn database(evidence: &Evidence) -> Option<Verdict> {
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
    if let Some(verdict) = round_trips(evidence) {
        return Some(verdict);
    }
    let contrast = handler(evidence);
    let confidence = if contrast.is_some() && flatness(evidence).is_some_and(|(flat, _)| flat) {
        Confidence::Certain
    } else {
        Confidence::Likely
    };
    Some(
        Verdict::new(Factor::Database, confidence, "The database behind the service is busy with its queries.")
            .because(format!("{} used {theirs:.2} of {cores} CPUs, the server itself {ours:.2}", peer.label()))
            .because_if(throttled.then(|| "a CPU quota of its own throttled it".into()))
            .because_if(flatness(evidence).map(|because| because.1))
            .because_if(contrast)
            .advice("look at what its slowest queries do (EXPLAIN), and at missing indexes")
            .advice("ask for less: cache what is read often")
            .gain(match fills && full == 0 {
                true => gain::by_half(theirs, theirs + ours + figures.generator_there(), HALF_THE_COST),
                false => evidence.bounds().gain((2.0, 2.0), HALF_THE_COST),
            }),
    )
}

/// One query for each row of another.
pub fn round_trips(evidence: &Evidence) -> Option<Verdict> {
    let (verdict, trips) = rows_one_by_one(&evidence.figures)?;
    let service_s = evidence.figures.service_s();
    Some(
        verdict
            .because(format!(
                "a request on its own takes {}, which is {} for each of them",
                time(service_s),
                time(service_s / trips)
            ))
            .because_if(
                evidence.figures.server_cores().map(|cores| format!("the server used {cores:.2} CPUs meanwhile")),
            )
            .gain(with_one_query(evidence, trips)),
    )
}

/// Returns the gain of one query instead of `trips`. Of a request's time the part that a cheap path takes too remains, and one of the
/// queries, which may cost as much as the rest together.
fn with_one_query(evidence: &Evidence, trips: f64) -> Gain {
    let change = "with one query for each request";
    let Some(cheap) = &evidence.figures.cheap else {
        return Gain::unknown(
            format!("more throughput {change}"),
            "what a request costs without its queries was not measured",
        );
    };
    let service = evidence.figures.service_s();
    let most = service / (cheap.alone_s + service / trips).min(service);
    gain::promised(most / QUERY_VARIES, most.min(evidence.bounds().null_at_most()), change)
}

/// The server's CPU goes into what it makes of the database's rows.
fn orm(evidence: &Evidence, used: f64) -> Option<Verdict> {
    let figures = &evidence.figures;
    if let Some(verdict) = round_trips(evidence) {
        return Some(verdict);
    }
    let answered = evidence.full().bytes_per_request();
    let (peer, fetched) = rows_for_little(figures, answered)?;
    let contrast = handler(evidence)?;
    Some(
        Verdict::new(
            Factor::Orm,
            Confidence::Likely,
            "The server's CPU goes into what it makes of the database's rows.",
        )
        .because(fetched)
        .because(format!("the server used {used:.2} CPUs, the database {:.2}", peer.cores()))
        .because(contrast)
        .advice(
            "fetch only the columns and rows that the response needs, and compare with the raw driver on the same query",
        )
        .gain(Gain::unknown("up to what the raw driver reaches", "that was not tried")),
    )
}
