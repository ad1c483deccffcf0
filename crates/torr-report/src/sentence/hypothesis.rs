//! The sentences about what an unknown factor most likely is, and what would prove it.

use crate::human::percent;
use torr_gauge::Factor;
use torr_gauge::verdict::{Fact, Hypothesis};

/// Returns what an unknown factor most likely is, with its rank, as a sentence. `None` if nothing points to a factor.
pub fn most_likely(hypotheses: &[Hypothesis], because: &[Fact]) -> Option<String> {
    let ranked = |hypothesis: &Hypothesis| {
        let Hypothesis { factor, readings, of } = hypothesis;
        match of {
            1 => factor.to_string(),
            of => format!("{factor} ({readings} of {of} readings of the evidence)"),
        }
    };
    let (best, others) = hypotheses.split_first()?;
    let others: Vec<_> = others.iter().map(|other| format!("{} ({})", other.factor, other.readings)).collect();
    let others = if others.is_empty() { String::new() } else { format!(", then {}", others.join(", ")) };
    let disturbed = because.iter().find_map(|fact| match fact {
        Fact::CpuShares { others_share, .. } => Some(*others_share),
        Fact::OthersChanged { most_share, .. } => Some(*most_share),
        _ => None,
    });
    let why = disturbed.map_or("this is not proved".to_owned(), |share| {
        format!("other programs used {} of the CPU, so this is not proved", percent(share))
    });
    Some(format!("Most likely {}{others}; {why}.", ranked(best)))
}

/// Returns what would prove a factor, as a command to the reader.
pub fn proof(factor: Factor) -> String {
    let how = match factor {
        Factor::SingleCore => "give the server a CPU that no other program uses (taskset): its thread stays saturated",
        Factor::ServerCpu => "run when no other program uses the CPU: the server then uses all of it",
        Factor::Workers => "run twice as many workers: throughput then doubles",
        Factor::Pool => "double the limit of what requests wait for, and compare: throughput then doubles",
        Factor::Lock => "look at what the server's threads wait for under load, in a thread dump or with perf",
        Factor::Database => "count the statements that the database processes under load, and those that wait",
        Factor::Generator => "run Torr on another machine: throughput then grows",
        Factor::Connections | Factor::NetworkDelay => "run with twice the connections: throughput then doubles",
        Factor::RateLimit => "run with half and with twice the connections: throughput stays the same",
        Factor::KeepAlive | Factor::TlsHandshake => "run with and without --no-keepalive, and compare",
        Factor::Proxy => "measure the service without the proxy: --via compares both",
        Factor::CpuQuota => "raise the quota, and compare",
        _ => "stop the other programs and run again",
    };
    format!("to prove {factor}: {how}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_likely_factor_is_named_with_its_rank_and_why_it_is_not_proved() {
        let hypothesis = |factor, readings| Hypothesis { factor, readings, of: 4 };
        let hypotheses = [hypothesis(Factor::SingleCore, 3), hypothesis(Factor::Workers, 1)];
        let shares = [Fact::CpuShares { share: 0.5, others_share: 0.46 }];
        assert_eq!(
            most_likely(&hypotheses, &shares).as_deref(),
            Some(
                "Most likely single-core (3 of 4 readings of the evidence), then workers (1); other programs used 46% of the \
                 CPU, so this is not proved."
            )
        );
        assert_eq!(
            most_likely(&hypotheses[1..], &[]).as_deref(),
            Some("Most likely workers (1 of 4 readings of the evidence); this is not proved.")
        );
        assert_eq!(most_likely(&[], &shares), None);
    }
}
