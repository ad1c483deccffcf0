//! The verdict of a run or a diagnosis: the finding as data (`finding`), and the verdict with sentences as results hold it.

mod advice;
mod estimate;
mod experiment;
mod fact;
mod factor;
mod finding;
mod headline;
mod hypothesis;
mod limit;
pub mod place;
mod promise;

pub use advice::Advice;
pub use estimate::Estimate;
pub use experiment::{CheapRequest, ExperimentId, ExperimentLabel, KeepAliveCondition};
pub use fact::{Fact, Speedup, Unit, WaitKind};
pub use factor::{Confidence, Factor};
pub use finding::Finding;
pub use headline::{Headline, KeptRate, WorkerCount};
pub use hypothesis::Hypothesis;
pub use limit::{Course, LimitKind, LoadUnit, OverloadEffect, SearchGoal, StepReason};
pub use place::{Located, Place};
pub use promise::{Change, Promise, UnknownGain};
pub use torr_signals::ProgramUse;

use crate::gain::Gain;
use crate::known;
use serde::{Deserialize, Serialize};

/// The verdict with its sentences. `torr-report` writes them; a recorded verdict keeps those that it was written with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The limiting factor.
    pub factor: Factor,
    /// The confidence.
    pub confidence: Confidence,
    /// The verdict in one sentence.
    pub summary: String,
    /// The evidence, in words with numbers.
    pub because: Vec<String>,
    /// Recommended changes.
    pub advice: Vec<String>,
    /// The evidence as data, in the order of `because`. Facts that are unknown to this version are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "known::all")]
    pub facts: Vec<Fact>,
    /// The gain of throughput that following the advice should bring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Gain>,
    /// A command that would show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
    /// The factors that an unknown one most likely is, the most likely first.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "known::all")]
    pub hypotheses: Vec<Hypothesis>,
    /// The places in the service that the factor comes from, those that dominate.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

impl Verdict {
    /// Returns a verdict without evidence.
    pub fn new(factor: Factor, confidence: Confidence, summary: impl Into<String>) -> Self {
        let (because, advice, facts, gain, verify) = (vec![], vec![], vec![], None, None);
        let (hypotheses, places) = (vec![], vec![]);
        Self { factor, confidence, summary: summary.into(), because, advice, facts, gain, verify, hypotheses, places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_verdict_is_read_without_facts_and_with_facts_of_another_version() {
        let recorded = json!({
            "factor": "generator", "confidence": "likely", "summary": "s", "because": ["b", "c"], "advice": ["a"],
        });
        let mut verdict: Verdict = serde_json::from_value(recorded.clone()).expect("older results have no facts");
        assert_eq!(serde_json::to_value(&verdict).expect("it has no other keys than text"), recorded);
        verdict.facts = vec![Fact::GeneratorBusy { share: 0.5, cores: None }, Fact::NoGoodResponse];
        let mut newer = serde_json::to_value(&verdict).expect("as before");
        assert_eq!(newer["facts"][0], json!({"fact": "generator-busy", "share": 0.5, "cores": null}));
        newer["facts"].as_array_mut().expect("they are an array").push(json!({"fact": "of-another-version", "x": [1]}));
        assert_eq!(serde_json::from_value::<Verdict>(newer).expect("unknown facts are left out"), verdict);
    }
}
