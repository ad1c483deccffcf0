//! The sentences of a comparison: its result, the evidence and the advice.

use torr_doctor::Ratio;
use torr_doctor::compare::{ComparisonAdvice, ComparisonFact, ComparisonHeadline, Failing, WayRate, Work};
use torr_report::human::{micros, per_second, percent, plural, seconds, times};
use torr_report::sentence;

/// Returns the result in one or more sentences.
pub fn headline(headline: &ComparisonHeadline) -> String {
    use ComparisonHeadline as H;
    match headline {
        H::NothingToCompare { failing } if failing.is_empty() => "There is nothing to compare.".into(),
        H::NothingToCompare { failing } => format!("There is nothing to compare: {}.", listed(failing)),
        H::FirstPathFails { first, best, worst } => format!(
            "Nothing can be compared with {}: {}. Of the others, {}.",
            first.name,
            how(first),
            best_and_worst(best, worst)
        ),
        H::PathsVague => format!("Cannot tell whether the paths differ: throughput varies too much; {LONGER_BUDGET}."),
        H::PathsSame { first, rounds } => {
            format!("No path differs measurably from {first} in {}.", plural(*rounds as u64, "round"))
        }
        H::PathsDiffer { best, worst } => {
            format!("{}: {}.", best_and_worst(best, worst), times(worst.rps / best.rps.max(0.01)))
        }
        H::TlsCost { kept, full } => {
            let full = full.map_or("unknown without it".into(), |full| {
                format!("{} with a full handshake for each request", percent(full))
            });
            format!("The throughput over TLS is {} of plain throughput with keep-alive, and {full}.", percent(*kept))
        }
        H::TlsConnecting { share } => {
            format!("Over TLS, throughput without keep-alive is {} of throughput with keep-alive.", percent(*share))
        }
        H::ProxyUnknown { failing } => format!("The cost of the proxy is unknown: {}.", listed(failing)),
        H::ProxyVague { ratio } => format!(
            "The cost of the proxy is unknown: throughput varies too much, {}; {LONGER_BUDGET}.",
            in_rounds(*ratio)
        ),
        H::ProxyFree { ratio } => format!("The proxy has no measurable cost: {}.", in_rounds(*ratio)),
        H::ProxyGains { ratio } => format!(
            "Throughput through the proxy is {} higher than directly: {}. The proxy saves the service work.",
            percent(ratio.ratio - 1.0),
            in_rounds(*ratio)
        ),
        H::ProxyCosts { ratio, machine } => {
            let machine = machine.as_ref().map_or(String::new(), |found| format!(" {}", sentence::headline(found)));
            format!("The proxy costs {} of the throughput: {}.{machine}", percent(1.0 - ratio.ratio), in_rounds(*ratio))
        }
        H::WorkersUnknown { failing } => format!("No number of workers can be recommended: {}.", how(failing)),
        H::ConnectionsLimit { connections, workers: least } => format!(
            "The {} limit the throughput, not the workers: with {}, no request waits for a worker.",
            plural(*connections as u64, "connection"),
            workers(*least)
        ),
        H::ConnectionsBusy { connections, workers: chosen } => format!(
            "{} are as many as {} can keep busy: with so few connections, the gain of more workers is unknown.",
            workers(*chosen),
            plural(*connections as u64, "connection")
        ),
        H::OneCountEnough { workers: chosen } => {
            let is = if *chosen == 1 { "is" } else { "are" };
            format!("{} {is} enough: more workers add less than 3%.", workers(*chosen))
        }
        H::StillGrowing { workers: chosen } => {
            format!("{} have the highest throughput of all numbers tried; more workers may add more.", workers(*chosen))
        }
        H::FewestEnough { workers: chosen } => {
            format!("{}: the smallest number within 3% of the highest throughput.", workers(*chosen))
        }
    }
}

/// Returns a measurement as a clause, without a full stop.
pub fn fact(fact: &ComparisonFact) -> String {
    use ComparisonFact as F;
    match fact {
        F::MostlyFails { failing, is_base: true } => {
            format!("nothing can be compared with {}: {}", failing.name, how(failing))
        }
        F::MostlyFails { failing, is_base: false } => format!("{} is not compared: {}", failing.name, how(failing)),
        F::Failed { name, share } => format!("{name}: {} of the requests failed", percent(*share)),
        F::ShortTurns { name } => {
            format!("{name}: the turns were short for these response times, so the throughput is higher than shown")
        }
        F::PathThroughput { name, first, ratio, server_us, first_server_us } => {
            let cpu = server_us.zip(*first_server_us).map_or(String::new(), |(cpu, of_first)| {
                format!("; a response cost the server {} of CPU time instead of {}", micros(cpu), micros(of_first))
            });
            let ratio_text = interval(*ratio);
            match ratio.is_one() {
                true => format!("{name} does not differ measurably from {first}: {ratio_text} its throughput{cpu}"),
                false => format!("{name} has {ratio_text} the throughput of {first}{cpu}"),
            }
        }
        F::TlsKept { ratio } => {
            format!("with keep-alive, TLS has {} the throughput of plain connections", interval(*ratio))
        }
        F::FullHandshakes { ratio } => {
            format!("without keep-alive, full handshakes have {} the throughput of plain connections", interval(*ratio))
        }
        F::ResumedHandshakes { ratio } => {
            format!("resumed handshakes have {} the throughput of full handshakes", interval(*ratio))
        }
        F::ResumedConnecting { ratio } => {
            format!("a resumed handshake for each request has {} the throughput of keep-alive", interval(*ratio))
        }
        F::Version { version, ratio } => {
            let with = "with a request at a time on each connection";
            format!("{with}, {version} has {} the throughput of HTTP/1.1 over TLS", interval(*ratio))
        }
        F::HandshakeTimes { full_s, resumed_s } => {
            format!("a full handshake took {} on average, a resumed one {}", seconds(*full_s), seconds(*resumed_s))
        }
        F::NoneResumed => "the server resumed no session".into(),
        F::Throughputs { direct_rps, through_rps } => {
            format!("{} directly, {} through the proxy", per_second(*direct_rps), per_second(*through_rps))
        }
        F::Medians { direct_s, through_s } => format!(
            "the median response time was {} directly, {} through the proxy",
            seconds(*direct_s),
            seconds(*through_s)
        ),
        F::ResponseCost { proxy_us, service_us } => {
            let service = service_us.map_or(String::new(), |us| format!(", the service {}", micros(us)));
            format!("a response cost the proxy {} of CPU time{service}", micros(*proxy_us))
        }
        F::CpuUse { proxy, proxy_cores, service, service_cores, machine_share } => format!(
            "{proxy} used {proxy_cores:.2} CPUs, and {service} behind it {service_cores:.2}; the machine used {} of its CPU",
            percent(*machine_share)
        ),
        F::UpstreamOpened { per_request } => {
            format!("the proxy opened about {per_request:.2} connections to the service for each request")
        }
        F::UpstreamKept { share } => {
            format!("{} of the proxy's connections to the service were still open in the next sample", percent(*share))
        }
        F::WorkersThroughput { workers: chosen, rps } => format!("{}: {}", workers(*chosen), per_second(*rps)),
        F::BusyConnections { share, connections, alone_s } => format!(
            "this is {} of what {} reach if no request waits for another; a single request takes {}",
            percent(*share),
            plural(*connections as u64, "connection"),
            seconds(*alone_s)
        ),
        F::FewerWorkers { workers: fewer, ratio } => {
            let may_be = if ratio.is_one() { ", which may be chance" } else { "" };
            format!("this is {} the throughput of {}{may_be}", interval(*ratio), workers(*fewer))
        }
        F::MostThroughput { workers: best, rps, ratio } => format!(
            "the highest throughput is {} with {}, {} as much",
            per_second(*rps),
            workers(*best),
            interval(*ratio)
        ),
        F::RuleOfThumb { work, worker_cores, least, cores, waiting, chosen } => {
            let seen = worker_cores
                .map_or(String::new(), |used| format!("with {}, a worker used {used:.2} CPUs: ", workers(*least)));
            seen + &rule(*work, *cores, *waiting, *chosen, chosen == least)
        }
    }
}

/// Returns the rule of thumb, and whether the measurement agrees. `is_least` tells that the smallest number is enough.
fn rule(work: Option<Work>, cores: usize, (from, to): (usize, usize), chosen: usize, is_least: bool) -> String {
    let agrees = |fits: bool| if fits { "the measurement agrees" } else { "the measurement does not agree" };
    match work {
        Some(Work::Computes) => format!(
            "its work computes; the rule of thumb is one worker per CPU, {cores} here, and {}",
            agrees(chosen <= cores)
        ),
        Some(Work::Waits) if chosen < from && is_least => format!(
            "its work waits; the rule of thumb is 3 to 8 workers per CPU, {from} to {to} here, but here waiting blocks no \
             worker: it may be asynchronous"
        ),
        Some(Work::Waits) => format!(
            "its work waits; the rule of thumb is 3 to 8 workers per CPU, {from} to {to} here, and {}",
            agrees((from..=to).contains(&chosen))
        ),
        None => {
            let like = match chosen {
                n if n <= cores => "is that of work that computes",
                n if n < from => "lies between both",
                _ => "is that of work that waits",
            };
            format!(
                "the rule of thumb is one worker per CPU ({cores} here) for work that computes, and 3 to 8 ({from} to {to}) \
                 for work that waits; the result {like}"
            )
        }
    }
}

/// Returns a recommendation as a command to the reader.
pub fn advice(advice: &ComparisonAdvice) -> String {
    use ComparisonAdvice as A;
    match advice {
        A::Diagnosis(advice) => return sentence::advice(advice),
        A::StartWith { workers: chosen } => {
            return format!("start the server with {}: replace '{{n}}' with {chosen}", workers(*chosen));
        }
        A::MoreConnections { connections: Some(connections) } => {
            return format!("test with more connections: -c {connections}");
        }
        A::LongerBudget => return format!("throughput varies too much: {LONGER_BUDGET}"),
        A::MoreConnectionsThanWorkers { connections } => {
            return format!(
                "use more connections than workers (-c): this load had {}",
                plural(*connections as u64, "connection")
            );
        }
        A::OrmCost => {
            "if the paths fetch the same data with a driver, a query builder and a model, the differences are the cost of the \
             query builder and of the ORM"
        }
        A::KeepUpstreamIfNot => {
            "if the proxy opens a connection to the service for each request, keep these connections alive: in nginx \
             'keepalive' in the upstream block, 'proxy_http_version 1.1' and an empty Connection header"
        }
        A::NoAccessLog => "if the proxy logs each request, turn that log off: in nginx 'access_log off'",
        A::ServeStatic => "let the proxy serve what does not need the service, such as static files",
        A::MoreConnections { connections: None } => "test with more connections: raise -c and --max-connections",
        A::MoreCounts => "throughput still grows at the largest number tried: try larger numbers with --counts",
        A::Diagnose => "if that is less than you expect, find the limiting factor with 'torr doctor'",
    }
    .to_owned()
}

const LONGER_BUDGET: &str = "set a longer --budget, on machines where nothing else runs";

fn workers(n: usize) -> String {
    plural(n as u64, "worker")
}

fn best_and_worst(best: &WayRate, worst: &WayRate) -> String {
    format!(
        "{} has the highest throughput, {}, and {} the lowest, {}",
        best.name,
        per_second(best.rps),
        worst.name,
        per_second(worst.rps)
    )
}

/// Returns how requests fail.
fn how(Failing { share, failure, .. }: &Failing) -> String {
    let failure = failure.as_ref().map_or(String::new(), |failure| format!(", with {failure}"));
    format!("{} of the requests fail{failure}", percent(*share))
}

fn listed(failing: &[Failing]) -> String {
    failing.iter().map(|way| format!("{}: {}", way.name, how(way))).collect::<Vec<_>>().join("; ")
}

/// Returns a ratio with its interval.
fn interval(Ratio { ratio, low, high, pairs }: Ratio) -> String {
    match pairs {
        1 => times(ratio),
        _ => format!("{} ({} to {})", times(ratio), times(low), times(high)),
    }
}

fn in_rounds(ratio: Ratio) -> String {
    format!("{} in {}", interval(ratio), plural(ratio.pairs as u64, "round"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_a_sentence_with_the_ratio_and_its_interval() {
        let ratio = Ratio::over(&[(100.0, 28.0), (101.0, 28.0), (99.0, 28.0)]);
        let costs = ComparisonHeadline::ProxyCosts { ratio, machine: None };
        assert_eq!(headline(&costs), "The proxy costs 72% of the throughput: 0.28x (0.27x to 0.29x) in 3 rounds.");
        let failing = vec![Failing { name: "/nope".into(), share: 1.0, failure: Some("status 404".into()) }];
        let nothing = ComparisonHeadline::NothingToCompare { failing };
        let fails = "There is nothing to compare: /nope: 100% of the requests fail, with status 404.";
        assert_eq!(headline(&nothing), fails);
        let waits = |chosen| rule(Some(Work::Waits), 2, (6, 16), chosen, chosen == 1);
        assert!(waits(8).ends_with("6 to 16 here, and the measurement agrees"), "{}", waits(8));
        assert!(waits(1).ends_with("it may be asynchronous"), "{}", waits(1));
    }
}
