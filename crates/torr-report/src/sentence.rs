//! The sentences of verdicts, experiments and findings about validity: each headline, fact, advice, gain, question and caution has
//! one, here, for every output.

mod advice;
pub mod caution;
mod early_end;
mod experiment;
mod fact;
pub mod fleet;
mod gain;
mod headline;
mod limit;
mod search;

pub use advice::advice;
pub use experiment::{experiment, question};
pub use fact::fact;
pub use gain::line as gain_line;
pub use headline::headline;
pub use limit::{limit, limit_reason, step};

use torr_gauge::verdict::Finding;
use torr_gauge::{Confidence, Verdict};

/// Returns what the confidence of a verdict means.
pub fn meaning(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Certain => "confirmed by experiments",
        Confidence::Likely => "not confirmed by experiments",
        Confidence::Unknown => "the evidence does not single out one factor",
    }
}

/// Returns the verdict of a finding, with sentences.
pub fn verdict(finding: Finding) -> Verdict {
    let Finding { factor, confidence, headline, because, advice, gain, verify } = finding;
    Verdict {
        factor,
        confidence,
        summary: headline::headline(&headline),
        because: because.iter().map(fact).collect(),
        advice: advice.iter().map(advice::advice).collect(),
        facts: because,
        gain: gain.as_ref().map(gain::gain),
        verify,
    }
}
