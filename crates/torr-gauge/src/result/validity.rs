//! The validity of a run, as the result contains it.

pub use super::caution::{Caution, Criterion, OffSchedule};

use crate::bounds::{Bounded, OutOfBounds, no_longer, text, texts, within};
use crate::known;
use serde::{Deserialize, Serialize};
use torr_signals::ProgramUse;

/// The probability by chance below which an effect counts as real. Three criteria use it.
pub const CHANCE: f64 = 0.003;
/// The limit of a finding's numbers in another machine's report: no count, time in microseconds or ratio is larger.
const LARGEST: f64 = 1e18;
/// The limit of the programs, and of the percentiles, that a finding of another machine names.
const MOST_NAMES: usize = 64;

/// The validity of a run. Criteria that do not apply have no finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Whether all findings are good.
    pub ok: bool,
    /// The findings of all criteria that apply.
    pub findings: Vec<Finding>,
}

/// The finding of one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The criterion.
    pub what: Criterion,
    /// Whether the criterion is met.
    pub ok: bool,
    /// The measured value in the unit of the criterion.
    pub value: f64,
    /// The upper limit of the value's distance from 0; for [`Criterion::Samples`] and [`Criterion::Bursts`] the lower limit.
    pub limit: f64,
    /// The probability of the value by chance. The finding is bad only below [`CHANCE`], or if the change is one clean step.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p: Option<f64>,
    /// The finding as data. `None` in a result of another version.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "known::one")]
    pub fact: Option<Caution>,
    /// The agent of a fleet that the finding is about; `None` for the whole run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// The agents of a fleet that ended early, because of which the load was less.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ended_early: Vec<String>,
    /// The finding as a sentence with numbers. Empty until `torr-report` has written it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub note: String,
    /// The remedy for a bad finding. `None` until `torr-report` has written it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<String>,
}

impl Bounded for Finding {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        let Self { what, ok: _, value, limit, p, fact, agent, ended_early, note, advice } = self;
        [Some(*value), Some(*limit), *p].into_iter().flatten().try_for_each(number)?;
        if let Some(fact) = fact {
            fact.bound(most)?;
            *what = fact.criterion();
        }
        // The coordinator has sentences of its own.
        (*agent, *note, *advice) = (None, String::new(), None);
        ended_early.clear();
        Ok(())
    }
}

impl Bounded for Caution {
    fn bound(&mut self, _: u64) -> Result<(), OutOfBounds> {
        number(self.value())?;
        match self {
            Self::Arrivals { distance: _, a2, gaps: _ } => number(*a2),
            Self::Silence { from_s, to_s } => number(*from_s).and(number(*to_s)),
            Self::Queued { share: _, others } => {
                no_longer("others", others.len(), MOST_NAMES)?;
                others.iter_mut().try_for_each(|ProgramUse { name, cores }| {
                    text(name);
                    number(*cores)
                })
            }
            Self::Samples { count: _, left_out, of_events: _ } => texts("left_out", left_out, MOST_NAMES),
            Self::Throughput { .. }
            | Self::Latency { .. }
            | Self::SendLag { .. }
            | Self::Rate { .. }
            | Self::Generator { .. }
            | Self::Steal { .. }
            | Self::Unfinished { .. }
            | Self::Drops { .. }
            | Self::Bursts { .. } => Ok(()),
        }
    }
}

fn number(number: f64) -> Result<(), OutOfBounds> {
    within("findings", number, -LARGEST..=LARGEST)
}

impl Finding {
    /// Creates a finding that is good up to its limit.
    pub(crate) fn at_most(limit: f64, fact: Caution) -> Self {
        let value = fact.value();
        Self {
            what: fact.criterion(),
            ok: value <= limit,
            value: round4(value),
            limit,
            p: None,
            fact: Some(fact),
            agent: None,
            ended_early: Vec::new(),
            note: String::new(),
            advice: None,
        }
    }
}

pub(crate) fn round4(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
