//! The commands that press the service once more.

use super::args::LimitArgs;
use crate::again;
use torr_doctor::limit::{Outcome, Slo, StreamReading};
use torr_doctor::{Flag, Invocation};
use torr_plan::target;
use torr_report::sentence;

/// Commands of `torr URL`, with the request and the way there as on this command line.
pub struct Commands {
    /// One request at a time.
    pub alone: String,
    /// The rate that is sustained, which is to succeed.
    pub verify: Option<String>,
    /// What has to be done before they can be run.
    pub before: Vec<String>,
}

/// The commands for this outcome.
pub fn commands(args: &LimitArgs, agents: Option<usize>, requests_each: usize, outcome: &Outcome) -> Commands {
    let again = Invocation { requests_each, ..invocation(args, agents) };
    Commands {
        alone: again.press(&[("-c", &1)]),
        verify: verify(&again, args, outcome),
        before: again.before_running().iter().map(sentence::advice).collect(),
    }
}

fn invocation(args: &LimitArgs, agents: Option<usize>) -> Invocation {
    let mut again = again::invocation(&args.load());
    if let Some(agents) = agents {
        args.through.press_again(agents, &mut again);
    }
    let threads = args.threads.map(|threads| ("-t".to_owned(), Some(threads.to_string())));
    // A script of k6 sets that in its options.
    let closing = (args.no_keepalive && !is_k6(args)).then(|| ("--no-keepalive".to_owned(), None));
    again.load = threads.into_iter().chain(closing).collect();
    again
}

fn verify(again: &Invocation, args: &LimitArgs, outcome: &Outcome) -> Option<String> {
    let sustained = outcome.sustained.as_ref()?;
    // By default an objective follows from the gaps of one stream.
    let slo = Slo::parse(&outcome.slo.join(",")).ok()?;
    let breaches: Vec<_> = slo.breaches().iter().map(ToString::to_string).collect();
    let breaches = breaches.join(",");
    if let Some(streams) = &sustained.streams {
        return Some(of_streams(again, streams, sustained.connections, &breaches));
    }
    let rate = sustained.rate;
    let rate = if rate >= 10.0 { format!("{:.0}", rate.floor()) } else { format!("{rate:.2}") };
    let mut flags: Vec<Flag<'_>> = vec![("-r", &rate)];
    if !is_k6(args) {
        flags.push(("--arrivals", &outcome.arrivals));
    }
    flags.extend([
        ("--max-connections", &outcome.max_connections as _),
        ("-d", &"30s" as _),
        ("--fail-if", &breaches as _),
    ]);
    Some(again.press(&flags))
}

/// Returns the command for as many streams at a time, which begin one after the other as in the search.
fn of_streams(again: &Invocation, streams: &StreamReading, connections: u64, breaches: &str) -> String {
    let connections = connections.clamp(1, streams.at_a_time as u64);
    let each = (streams.at_a_time as u64 / connections).max(1);
    let mut again = again.clone();
    if each > 1 || !again.streams.is_empty() {
        again.streams = vec!["--streams".to_owned(), each.to_string()];
    }
    let begins = streams.begins_per_s.map(|rate| format!("{rate:.2}"));
    let mut flags: Vec<Flag<'_>> = vec![("-c", &connections)];
    flags.extend(begins.as_ref().map(|rate| ("--max-rate", rate as _)));
    flags.extend([("-d", &"30s" as _), ("--fail-if", &breaches as _)]);
    again.press(&flags)
}

/// Returns whether a script of k6 is loaded, whose iterations are due at even times.
fn is_k6(args: &LimitArgs) -> bool {
    args.url.as_deref().is_some_and(target::is_k6)
}
