//! The sentences of verdicts, experiments and findings about validity: each headline, fact, advice, gain, question and caution has
//! one, here, for every output.

mod advice;
mod behind;
pub mod caution;
mod early_end;
mod experiment;
mod fact;
mod factor;
pub mod fleet;
mod gain;
mod headline;
mod hidden;
mod hypothesis;
mod limit;
mod parts;
mod place;
mod rate;
mod search;
mod streams;
mod weather;

pub use advice::advice;
pub use experiment::{experiment, question};
pub use fact::fact;
pub(crate) use fact::idle_closes;
pub use factor::{Named, brief_factor, factor, named};
pub use gain::line as gain_line;
pub use headline::headline;
pub use limit::{limit, limit_reason, step};
pub use place::{lines as place_lines, located};
pub use search::{law, load};

use torr_gauge::Verdict;
use torr_gauge::verdict::Finding;

/// Returns the verdict of a finding, with sentences.
pub fn verdict(finding: Finding) -> Verdict {
    let Finding { factor, confidence, headline, because, advice, gain, verify, hypotheses } = finding;
    let most_likely = hypothesis::most_likely(&hypotheses, &because).map(|sentence| format!(" {sentence}"));
    Verdict {
        factor,
        confidence,
        summary: headline::headline(&headline) + &most_likely.unwrap_or_default(),
        because: because.iter().map(fact).collect(),
        advice: advice.iter().map(advice::advice).collect(),
        facts: because,
        gain: gain.as_ref().map(gain::gain),
        verify,
        hypotheses,
        places: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::verdict::Fact;

    #[test]
    fn the_share_of_one_cause_is_not_that_of_all_failures() {
        let cause = Fact::CauseShare { kind: "read".into(), what: "closed".into(), share: 0.25 };
        assert_eq!(fact(&cause), "25% of the requests failed (read: closed)");
    }
}
