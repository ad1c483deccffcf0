//! A diagnosis as it is written: with sentences, and its experiments with names and questions.

use serde::Serialize;
use torr_doctor::{Diagnosis, KeepAlive, Observation};
use torr_gauge::Verdict;
use torr_gauge::verdict::{Advice, ExperimentId, Fact, Located};
use torr_report::sentence::{self, caution};

/// A diagnosis with its sentences.
#[derive(Serialize)]
pub struct WrittenDiagnosis {
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// The verdict.
    pub verdict: Verdict,
    /// Observations that are not the limit.
    pub remarks: Vec<String>,
    keep_alive: Option<WrittenKeepAlive>,
    /// The places that the factor comes from, what could not be seen, and the stacks. The verdict has the places too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub located: Option<Located>,
    /// The experiments in their order.
    pub trail: Vec<WrittenObservation>,
}

/// An experiment with its name and its question.
#[derive(Serialize)]
pub struct WrittenObservation {
    experiment: String,
    why: &'static str,
    /// Whether the verdict rests on it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    decided: bool,
    #[serde(flatten)]
    observation: Observation,
}

impl WrittenObservation {
    fn of(observation: Observation, decided: &[ExperimentId]) -> Self {
        let label = observation.label();
        let (why, decided) = (sentence::question(&label), decided.contains(&observation.id));
        Self { experiment: sentence::experiment(&label), why, decided, observation }
    }
}

/// Writes the sentences of experiments: names, questions, and what was found about the validity of each.
/// Those in `decided` are marked.
pub(super) fn written(trail: &mut Vec<Observation>, decided: &[ExperimentId]) -> Vec<WrittenObservation> {
    trail.iter_mut().filter_map(|observation| observation.run.validity.as_mut()).for_each(caution::write);
    std::mem::take(trail).into_iter().map(|seen| WrittenObservation::of(seen, decided)).collect()
}

/// The conditions of keep-alive with their sentences.
#[derive(Serialize)]
struct WrittenKeepAlive {
    #[serde(flatten)]
    found: KeepAlive,
    depends_on: Vec<String>,
}

impl WrittenDiagnosis {
    /// Writes the sentences of a diagnosis.
    pub fn of(mut diagnosis: Diagnosis) -> Self {
        let sentences = |facts: &[Fact]| facts.iter().map(sentence::fact).collect();
        let keep_alive = diagnosis.keep_alive.clone();
        let keep_alive = keep_alive.map(|found| WrittenKeepAlive { depends_on: sentences(&found.depends_on), found });
        let located = diagnosis.located.take().map(sentence::located);
        let places: Vec<_> = located.iter().flat_map(|located| &located.places).cloned().collect();
        let mut finding = diagnosis.finding.clone();
        // The place is what a profile would show.
        finding.advice.retain(|advice| *advice != Advice::Profile || places.is_empty());
        let verdict = Verdict { places, ..sentence::verdict(finding) };
        let trail = written(&mut diagnosis.trail, &diagnosis.decided);
        Self { verdict, remarks: sentences(&diagnosis.remarks), keep_alive, located, trail, diagnosis }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use torr_doctor::Recording;
    use torr_gauge::Factor;

    #[test]
    fn a_diagnosis_as_json_is_a_recording_but_for_its_factor() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../torr-doctor/tests/recordings");
        let recording = Recording::read(&folder.join("connections-demo-sleep.json.gz")).expect("it is a recording");
        let found = recording.diagnose().expect("all was recorded");
        let json = serde_json::to_string(&WrittenDiagnosis::of(found)).expect("a diagnosis is JSON");
        let again = Recording::of_json(&json, Factor::Connections).expect("it has a setting and a trail");
        assert_eq!((again.trail.len(), again.expected), (recording.trail.len(), Factor::Connections));
        assert_eq!(again.diagnose().expect("all was recorded").finding.factor, Factor::Connections);
        let written: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        let first = &written["trail"][0];
        assert_eq!(
            (first["id"].as_str(), first["experiment"].as_str()),
            (Some("alone"), Some("one request at a time"))
        );
        assert_eq!(first["why"], "what is the response time without load?");
        // The verdict stands on some of the experiments, and not on all.
        let trail = written["trail"].as_array().expect("it is a list");
        let decided = trail.iter().filter(|step| step["decided"] == true).count();
        assert!((1..trail.len()).contains(&decided), "{decided} of {}", trail.len());
    }
}
