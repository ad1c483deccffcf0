//! The promise of a verdict, and whether the cured form of the subject keeps it.

use serde::Serialize;
use torr_gauge::Gain;

/// The share of an end of the promised interval by which the real gain may lie beyond it.
const TOLERANCE: f64 = 0.15;

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
        let word = match kept {
            Some(true) => " kept",
            Some(false) => " BROKEN",
            None => "",
        };
        self.real.map_or("-".into(), |real| format!("{real:.2}{word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
