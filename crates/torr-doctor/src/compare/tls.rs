//! The cost of TLS: none, full handshakes and resumed ones, each with keep-alive and with a connection per request, and HTTP/2 and
//! HTTP/3 where the server has them.

use super::conclusion::{ComparisonAdvice, ComparisonFact, ComparisonHeadline, Conclusion};
use super::measuring::{Turns, Way};
use super::outcome::{Comparison, Kind, finish};
use super::row::Row;
use super::transport::{HttpVersion, Secured, Transport};
use crate::assignment::Assignment;
use crate::halt::Halt;
use crate::load_runner::LoadRunner;
use crate::observation::ExperimentStart;
use crate::turns::Ratio;
use std::sync::atomic::AtomicBool;
use torr_gauge::verdict::{Advice, ExperimentId};
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
    let turns = Turns::of(&mut runner, ways, ExperimentId::TlsTurn)?;
    let mut rows = turns.rows(&runner, ways.iter().map(|way| way.name.as_str()));
    rows.iter_mut().zip(transports).for_each(|(row, transport)| row.transport = Some(*transport));
    let compared = Compared { runner: &runner, turns: &turns, transports, rows: &rows };
    let url =
        ways.iter().map(|way| &way.plan.target).find(|target| target.tls).map_or_else(String::new, Target::as_given);
    let verify = assignment.again.press_once_each("--tls", &url, &[("-c", &assignment.plan.connections)]);
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
        let version = HttpVersion::Http1;
        self.transports.iter().position(|&transport| transport == Transport { version, secured, keep_alive })
    }

    /// Returns the throughput of a later version of HTTP as a ratio to that of HTTP/1.1 over TLS, both with keep-alive.
    fn by_version(&self, version: HttpVersion) -> Option<ComparisonFact> {
        let from = self.at(Secured::Resumed, true)?;
        let to = self.transports.iter().position(|transport| transport.version == version)?;
        self.fair(from, to).map(|ratio| ComparisonFact::Version { version, ratio })
    }

    /// Returns the second's throughput as a ratio to the first's.
    fn ratio(&self, from: (Secured, bool), to: (Secured, bool)) -> Option<Ratio> {
        self.fair(self.at(from.0, from.1)?, self.at(to.0, to.1)?)
    }

    /// Returns the throughput of the row at `to` as a ratio to that at `from`, unless most requests of one of them fail.
    fn fair(&self, from: usize, to: usize) -> Option<Ratio> {
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
        let headline = match (kept, short) {
            (Some(kept), _) => ComparisonHeadline::TlsCost { kept: kept.ratio, full: full.map(|full| full.ratio) },
            (None, Some(short)) => ComparisonHeadline::TlsConnecting { share: short.ratio },
            (None, None) => ComparisonHeadline::NothingToCompare { failing: vec![] },
        };
        let because = [
            kept.map(|ratio| ComparisonFact::TlsKept { ratio }),
            full.map(|ratio| ComparisonFact::FullHandshakes { ratio }),
            resumed.map(|ratio| ComparisonFact::ResumedHandshakes { ratio }),
            short.map(|ratio| ComparisonFact::ResumedConnecting { ratio }),
            self.by_version(HttpVersion::Http2),
            self.by_version(HttpVersion::Http3),
            self.handshake_times(),
            handshakes.filter(|_| !resumes).map(|_| ComparisonFact::NoneResumed),
        ];
        let is_rsa = full.is_some_and(|full| full.ratio < 0.5) && self.is_rsa();
        let advice = [
            Some(Advice::KeepConnections),
            (!resumes).then_some(Advice::ResumeSessions),
            is_rsa.then_some(Advice::EcdsaCertificate),
        ];
        Conclusion {
            headline,
            because: because.into_iter().flatten().chain(self.rows.iter().flat_map(Row::doubts)).collect(),
            advice: advice.into_iter().flatten().map(ComparisonAdvice::Diagnosis).collect(),
            verify: Some(verify),
        }
    }

    /// Returns whether the server's certificate has an RSA key.
    fn is_rsa(&self) -> bool {
        let runs = self.runner.trail.iter().filter_map(|observation| observation.run.tls.as_ref());
        runs.filter_map(|tls| tls.key.as_deref()).any(|key| key == "RSA")
    }

    fn handshake_times(&self) -> Option<ComparisonFact> {
        let seconds = |secured| Some(self.rows[self.at(secured, false)?].handshake_us? / 1e6);
        Some(ComparisonFact::HandshakeTimes { full_s: seconds(Secured::Full)?, resumed_s: seconds(Secured::Resumed)? })
    }
}
