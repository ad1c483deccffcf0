//! The highest load without errors. Requests that fail under the user's load say that a limit was passed, not which one: the load
//! below it shows that, and the rules examine the service there.

use crate::evidence::{Evidence, Positions};
use crate::experiment::Experiment;
use crate::observation::Observation;
use crate::survey;
use crate::thresholds::{ALL_AT_WORK, ALWAYS, FLAT, KEPT_FROM, MANY_FAILED};
use crate::witnesses;
use torr_gauge::Factor;
use torr_gauge::verdict::{ExperimentId, Fact, Finding};

/// Two neighbouring loads of the ladder, of which the higher one has errors.
#[derive(Debug, Clone, Copy)]
pub struct Onset<'e> {
    /// The highest load without errors.
    pub clean: &'e Observation,
    /// The next load.
    pub failing: &'e Observation,
}

/// Returns the share of the requests, or of the sessions, that failed in an observation. Responses with 503 count only if single
/// requests get them too, or if they come late: a service that has too much to do may refuse what is too much.
pub fn failed_share(evidence: &Evidence, seen: &Observation) -> f64 {
    let sheds = evidence.alone().status_share(&[503]) < ALWAYS && !witnesses::refuses_late(seen, evidence.alone());
    let shed = if sheds { seen.status_share(&[503]) } else { 0.0 };
    let sessions = witnesses::failed_sessions(&seen.run).unwrap_or(0.0);
    (seen.failed_share() - shed).max(sessions)
}

/// Returns where errors begin as connections grow. `None` if the user's load has none, or if single requests fail as well.
pub fn onset(evidence: &Evidence) -> Option<Onset<'_>> {
    let has_errors = |seen: &Observation| failed_share(evidence, seen) >= MANY_FAILED;
    let (alone, full) = (evidence.alone(), evidence.full());
    if has_errors(alone) || !has_errors(full) {
        return None;
    }
    let mut loads: Vec<_> = survey::rungs_of(evidence).collect();
    loads.sort_by_key(|seen| connections(seen));
    loads.push(full);
    let failing = loads.iter().position(|seen| has_errors(seen))?;
    let clean = failing.checked_sub(1).map_or(alone, |before| loads[before]);
    Some(Onset { clean, failing: loads[failing] })
}

/// Returns the load between those of an onset that was tried, if there was one.
fn tried<'e>(evidence: &'e Evidence, onset: &Onset<'_>) -> Option<&'e Observation> {
    evidence.last(ExperimentId::FullWithoutErrors).filter(|seen| connections(seen) > connections(onset.clean))
}

/// Returns the experiment that shows the service under the highest load without errors: that of the ladder, or one between it and the
/// next where requests do not queue yet, though more connections bring no more good responses. `None` where the limit is not reached
/// before errors begin, unless the load without errors is to be tried `again` to see whether failures stay.
pub fn experiment(evidence: &Evidence, onset: &Onset<'_>, again: bool) -> Option<Experiment> {
    let (clean, failing) = (connections(onset.clean), connections(onset.failing));
    let between = clean + clean / 2;
    let connections = match again || onset.is_saturated(evidence) {
        true => clean,
        false if onset.stays_flat(evidence) && clean < between && between < failing => between,
        false => return None,
    };
    Some(evidence.setting.with_connections(connections, ExperimentId::FullWithoutErrors, 2.5))
}

impl Onset<'_> {
    /// Returns whether requests queue under the load without errors, and more connections bring no more good responses: the limit
    /// is reached before errors begin.
    pub fn is_saturated(&self, evidence: &Evidence) -> bool {
        // One request at a time is no load under which anything queues.
        if connections(self.clean) < 2 {
            return false;
        }
        let (rps, figures) = (self.clean.good_rps(), &evidence.figures);
        let in_flight = (connections(self.clean) * usize::from(evidence.setting.depth)) as f64;
        rps * figures.alone_mean_s / in_flight < ALL_AT_WORK && rps >= KEPT_FROM * figures.ladder.most()
    }

    /// Returns whether the user's load has about as many good responses as the load without errors, which is more than one request at a
    /// time.
    pub fn stays_flat(&self, evidence: &Evidence) -> bool {
        let ratio = evidence.full().good_rps() / self.clean.good_rps().max(1e-9);
        connections(self.clean) > 1 && (FLAT.0..FLAT.1).contains(&ratio)
    }

    /// Returns where errors begin, as evidence.
    pub fn fact(&self, evidence: &Evidence) -> Fact {
        let tried = tried(evidence, self);
        let has_errors = |seen: &&Observation| failed_share(evidence, seen) >= MANY_FAILED;
        let failing = tried.filter(has_errors).unwrap_or(self.failing);
        let clean = tried.filter(|seen| !has_errors(seen)).unwrap_or(self.clean);
        Fact::ErrorsBegin {
            clean: connections(clean),
            connections: connections(failing),
            share: failed_share(evidence, failing),
        }
    }
}

/// Returns where the observation of the highest load without errors stands. `None` if the user's load has no errors, if the service was
/// not examined below them, or if the evidence is that below them already.
fn examined(evidence: &Evidence) -> Option<usize> {
    let at = evidence.position(ExperimentId::FullWithoutErrors)?;
    let has_errors = || failed_share(evidence, &evidence.observations()[at]) >= MANY_FAILED;
    (!evidence.below_errors && !has_errors()).then_some(at)
}

/// Returns whether the service was examined below errors of the user's load.
pub fn is_examined(evidence: &Evidence) -> bool {
    examined(evidence).is_some()
}

/// Returns the evidence as if the highest load without errors were the user's. `None` if the user's load has no errors, or if the
/// service was not examined below them.
pub fn view(evidence: &Evidence) -> Option<Evidence> {
    let at = examined(evidence)?;
    let seen = &evidence.observations()[at];
    let mut view = evidence.clone();
    view.below_errors = true;
    view.setting.connections = connections(seen);
    view.setting.max_connections = connections(seen);
    view.positions = Positions { full: Some(at), ..evidence.positions };
    view.figures = survey::figures(&view);
    Some(view)
}

/// Adds to a finding under the highest load without errors where these begin, and what they are.
pub fn with_onset(evidence: &Evidence, finding: Finding) -> Finding {
    match onset(evidence).filter(|_| finding.factor != Factor::Errors) {
        Some(onset) => finding
            .because(onset.fact(evidence))
            .because(evidence.full().signals.as_ref().and_then(witnesses::full_peer_queue))
            .because(witnesses::failures(&evidence.full().run)),
        None => finding,
    }
}

fn connections(seen: &Observation) -> usize {
    seen.run.plan.connections
}
