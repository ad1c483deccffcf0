//! Tables of evidence: services described by what is observed of them, each beside its look-alikes, with the verdict of the whole
//! procedure. Nothing is measured and nothing waits, so a table takes milliseconds.

mod advice;
mod backlog;
mod budget;
mod busy;
mod case;
mod connecting;
mod disturbed;
mod failing;
mod generator;
mod held_back;
mod proxy;
mod rising;
mod waiting;

use case::Case;
use torr_gauge::{Confidence, Factor};

/// What is observed in words, the observations, and the verdict's factor with how sure it is.
type Row = (&'static str, Case, Factor, Confidence);

/// Diagnoses each service of a table.
fn check(rows: Vec<Row>) {
    let mut faults = vec![];
    for (what, case, factor, confidence) in rows {
        let verdict = case.diagnose().finding;
        if (verdict.factor, verdict.confidence) != (factor, confidence) {
            faults.push(format!("{what}: not {factor}, {confidence:?}, but {verdict:#?}"));
        }
        assert!(!verdict.because.is_empty() && !verdict.advice.is_empty(), "{what}: {verdict:#?}");
        let promised = verdict.gain.as_ref().and_then(|gain| gain.high.or(gain.low));
        assert!(promised.is_none_or(|factor| factor < 1e6), "{what}: no reader believes {:?}", verdict.gain);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The factors of the specification.
const FACTORS: &str = "generator connections network-delay bandwidth keep-alive client-ports accept-backlog tls-handshake proxy server-cpu \
                       single-core cpu-quota workers database orm lock pool rate-limit delayed-ack errors unknown";

#[test]
fn each_factor_has_a_table() {
    let rows = [
        backlog::rows(),
        busy::rows(),
        connecting::rows(),
        disturbed::rows(),
        failing::rows(),
        generator::rows(),
        held_back::rows(),
        proxy::rows(),
        rising::rows(),
        waiting::rows(),
    ];
    let found: Vec<String> = rows.iter().flatten().map(|(_, _, factor, _)| factor.to_string()).collect();
    let missing: Vec<_> =
        FACTORS.split_whitespace().filter(|name| !found.iter().any(|factor| factor == name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
