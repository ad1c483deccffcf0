//! The promise of a verdict, and whether the cured form of the subject keeps it.

use serde::Serialize;
use torr_gauge::Gain;

/// The share of an end of the promised interval by which the real gain may lie beyond it.
const TOLERANCE: f64 = 0.15;

/// The words at the end of a promise of Torr for requests or queries that cost half.
const HALF_THE_COST: &str = "cost half";

/// A promised gain beside the real one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Promise {
    /// The gain of the verdict.
    pub gain: Option<Gain>,
    /// The throughput of the cured form, as a factor of the diagnosed one's. `None` without a cured form.
    pub real: Option<f64>,
}

impl Promise {
    /// Whether the real gain lies within the promised interval, or beyond it by at most 15% of its nearer end. `None` if nothing was
    /// promised, or the real gain was not measured.
    pub fn is_kept(&self) -> Option<bool> {
        let (gain, real) = (self.gain.as_ref()?, self.real?);
        let above = gain.low.map(|low| real >= low * (1.0 - TOLERANCE));
        let below = gain.high.map(|high| real <= high * (1.0 + TOLERANCE));
        match (above, below) {
            (None, None) => None,
            (above, below) => Some(above != Some(false) && below != Some(false)),
        }
    }

    /// Whether the promise is what half the cost of requests or of queries brings. Its words tell it.
    pub fn is_for_half_the_cost(&self) -> bool {
        self.gain.as_ref().is_some_and(|gain| gain.summary.contains(HALF_THE_COST))
    }

    /// Returns the ratio of the promised interval's ends. `None` if an end is unknown.
    pub fn width(&self) -> Option<f64> {
        let gain = self.gain.as_ref()?;
        Some(gain.high? / gain.low?)
    }

    /// Returns the promised interval for a column of a table.
    pub fn promised(&self) -> String {
        match self.gain.as_ref().map(|gain| (gain.low, gain.high)) {
            Some((Some(low), Some(high))) => format!("{low:.2}..{high:.2}"),
            Some((Some(low), None)) => format!("{low:.2}.."),
            Some((None, Some(high))) => format!("..{high:.2}"),
            Some((None, None)) => "unknown".into(),
            None => "-".into(),
        }
    }

    /// Returns the real gain for a column of a table, with the word for a promise that was kept or not.
    pub fn real(&self, kept: Option<bool>) -> String {
        self.real.map_or("-".into(), |real| format!("{real:.2}{}", Self::word(kept)))
    }

    /// Returns the word for a promise that was kept or not, after a blank. Empty if it was not judged.
    pub fn word(kept: Option<bool>) -> &'static str {
        match kept {
            Some(true) => " kept",
            Some(false) => " BROKEN",
            None => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::verdict::{self, Change, Finding, Headline};
    use torr_gauge::{Confidence, Factor};
    use torr_report::sentence;

    #[test]
    fn a_promise_is_kept_within_15_percent_of_the_nearer_end() {
        let gain = |low, high| Some(Gain { low, high, reason: None, summary: String::new() });
        let (between, least) = (gain(Some(2.0), Some(4.0)), gain(Some(2.0), None));
        for (gain, real, kept, columns) in [
            (&between, Some(3.0), Some(true), ("2.00..4.00", "3.00 kept")),
            (&between, Some(1.71), Some(true), ("2.00..4.00", "1.71 kept")),
            (&between, Some(1.69), Some(false), ("2.00..4.00", "1.69 BROKEN")),
            (&between, Some(4.59), Some(true), ("2.00..4.00", "4.59 kept")),
            (&between, Some(4.61), Some(false), ("2.00..4.00", "4.61 BROKEN")),
            (&between, None, None, ("2.00..4.00", "-")),
            (&least, Some(50.0), Some(true), ("2.00..", "50.00 kept")),
            (&least, Some(1.0), Some(false), ("2.00..", "1.00 BROKEN")),
            (&gain(None, None), Some(3.0), None, ("unknown", "3.00")),
            (&None, Some(3.0), None, ("-", "3.00")),
        ] {
            let promise = Promise { gain: gain.clone(), real };
            assert_eq!(promise.is_kept(), kept, "{promise:?}");
            assert_eq!((promise.promised().as_str(), promise.real(kept).as_str()), columns);
        }
    }

    #[test]
    fn the_words_of_a_promise_tell_whether_it_is_for_half_the_cost() {
        for (change, is_half) in [
            (Change::CheaperRequests, true),
            (Change::CheaperQueries, true),
            (Change::NoLock, false),
            (Change::TwiceThePool, false),
            (Change::HalfTheBytes, false),
        ] {
            let mut finding = Finding::new(Factor::ServerCpu, Confidence::Likely, Headline::Unclear);
            finding.gain = Some(verdict::Promise::between(1.8, 2.2, change));
            let promise = Promise { gain: sentence::verdict(finding).gain, real: None };
            assert_eq!(promise.is_for_half_the_cost(), is_half, "{change:?}");
        }
        assert!(!Promise::default().is_for_half_the_cost());
    }
}
