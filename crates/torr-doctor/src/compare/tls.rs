//! The cost of TLS: none, full handshakes and resumed ones, each with keep-alive and with a connection per request.

use super::measuring::{Turns, Way};
use super::outcome::{Comparison, Conclusion, Kind, finish};
use super::row::Row;
use super::transport::{Secured, Transport};
use crate::assignment::Assignment;
use crate::halt::Halt;
use crate::load_runner::LoadRunner;
use crate::observation::ExperimentStart;
use crate::turns::Ratio;
use std::sync::atomic::AtomicBool;
use torr_gauge::numbers::{percent, seconds};
use torr_gauge::verdict::Advice;
use torr_press::Target;

/// Compares transports with the first of them. They must have full and resumed handshakes, each with keep-alive and without.
///
/// # Errors
/// [`Halt`].
pub fn tls(
    assignment: &Assignment,
    transports: &[Transport],
    ways: &[Way<'_>],
    stop: &AtomicBool,
    tell: &mut dyn FnMut(ExperimentStart<'_>),
) -> Result<Comparison, Halt> {
    let mut runner = LoadRunner::open(assignment, None, stop, tell);
    let turns = Turns::of(&mut runner, ways, "what TLS and its handshakes cost")?;
    let mut rows = turns.rows(&runner, ways.iter().map(|way| way.name.as_str()));
    rows.iter_mut().zip(transports).for_each(|(row, transport)| row.transport = Some(*transport));
    let compared = Compared { runner: &runner, turns: &turns, transports, rows: &rows };
    let url =
        ways.iter().map(|way| &way.plan.target).find(|target| target.tls).map_or_else(String::new, Target::as_given);
    let verify = assignment.again.press_once_each(&url, &[("-c", &assignment.plan.connections)]);
    let conclusion = compared.conclude(verify);
    Ok(finish(Kind::Tls, runner, &turns, rows, conclusion))
}

/// The measured variants.
struct Compared<'c, 'l> {
    runner: &'c LoadRunner<'l>,
    turns: &'c Turns,
    transports: &'c [Transport],
    rows: &'c [Row],
}

impl Compared<'_, '_> {
    fn at(&self, secured: Secured, keep_alive: bool) -> Option<usize> {
        self.transports.iter().position(|&transport| transport == Transport { secured, keep_alive })
    }

    /// Returns the second's throughput as a ratio to the first's.
    fn ratio(&self, from: (Secured, bool), to: (Secured, bool)) -> Option<Ratio> {
        let (from, to) = (self.at(from.0, from.1)?, self.at(to.0, to.1)?);
        let is_fair = !self.rows[from].mostly_fails() && !self.rows[to].mostly_fails();
        is_fair.then(|| self.turns.ratio(self.runner, from, to))
    }

    fn conclude(&self, verify: String) -> Conclusion {
        use Secured::{Full, Plain, Resumed};
        let kept = self.ratio((Plain, true), (Resumed, true));
        let full = self.ratio((Plain, false), (Full, false));
        let resumed = self.ratio((Full, false), (Resumed, false));
        let short = self.ratio((Resumed, true), (Resumed, false));
        let handshakes = self.at(Resumed, false).map(|at| &self.rows[at]);
        let resumes = handshakes.is_some_and(|row| row.resumed_handshakes.unwrap_or(0) > 0);
        let summary = match (kept, short) {
            (Some(kept), _) => format!(
                "On connections that are kept, TLS leaves {} of the throughput; with a connection for each request {}.",
                percent(kept.ratio),
                full.map_or("it is unknown".into(), |full| format!("and full handshakes {}", percent(full.ratio)))
            ),
            (None, Some(short)) => format!(
                "Over TLS, a connection for each request leaves {} of the throughput of connections that are kept.",
                percent(short.ratio)
            ),
            (None, None) => "There is nothing to compare.".into(),
        };
        let because = [
            kept.map(|ratio| format!("kept alive, TLS gives {} the throughput of plain", ratio.in_words())),
            full.map(|ratio| {
                format!(
                    "with a connection per request, full handshakes give {} the throughput of plain",
                    ratio.in_words()
                )
            }),
            resumed.map(|ratio| format!("resumed handshakes give {} the throughput of full ones", ratio.in_words())),
            short.map(|ratio| {
                format!("over resumed TLS, a connection per request gives {} that of kept ones", ratio.in_words())
            }),
            self.handshake_times(),
            handshakes.filter(|_| !resumes).map(|_| "the server resumed not one session".into()),
        ];
        let is_rsa = full.is_some_and(|full| full.ratio < 0.5) && self.is_rsa();
        let remedies = [
            Some(Advice::KeepConnections),
            (!resumes).then_some(Advice::ResumeSessions),
            is_rsa.then_some(Advice::EcdsaCertificate),
        ];
        let failures = self.rows.iter().flat_map(Row::doubts);
        Conclusion {
            summary,
            because: because.into_iter().flatten().chain(failures).collect(),
            verify: Some(verify),
            remedies: remedies.into_iter().flatten().collect(),
            ..Conclusion::default()
        }
    }

    /// Returns whether the server's certificate has an RSA key.
    fn is_rsa(&self) -> bool {
        let runs = self.runner.trail.iter().filter_map(|observation| observation.run.tls.as_ref());
        runs.filter_map(|tls| tls.key.as_deref()).any(|key| key == "RSA")
    }

    fn handshake_times(&self) -> Option<String> {
        let of = |secured| {
            let row = &self.rows[self.at(secured, false)?];
            Some(seconds(row.handshake_us? / 1e6))
        };
        Some(format!(
            "a full handshake took {} on average, a resumed one {}",
            of(Secured::Full)?,
            of(Secured::Resumed)?
        ))
    }
}
