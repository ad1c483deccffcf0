//! A finding: the limiting factor with its facts and advice, as data without a sentence.

use super::advice::Advice;
use super::fact::Fact;
use super::factor::{Confidence, Factor};
use super::headline::Headline;
use super::hypothesis::Hypothesis;
use super::promise::Promise;

/// The factor that limits a service, and what shows it. `torr-report` turns a finding into a [`super::Verdict`] with sentences.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The limiting factor.
    pub factor: Factor,
    /// The confidence.
    pub confidence: Confidence,
    /// What limits the service.
    pub headline: Headline,
    /// The evidence.
    pub because: Vec<Fact>,
    /// The recommended changes.
    pub advice: Vec<Advice>,
    /// The gain of throughput that following the advice should bring.
    pub gain: Option<Promise>,
    /// A command that would show the limiting factor.
    pub verify: Option<String>,
    /// The factors that an unknown one most likely is, the most likely first.
    pub hypotheses: Vec<Hypothesis>,
}

impl Finding {
    /// Returns a finding without evidence.
    pub fn new(factor: Factor, confidence: Confidence, headline: Headline) -> Self {
        let (because, advice, hypotheses) = (vec![], vec![], vec![]);
        Self { factor, confidence, headline, because, advice, gain: None, verify: None, hypotheses }
    }

    /// Adds facts: one, an `Option` or any number of them.
    #[must_use]
    pub fn because(mut self, facts: impl IntoIterator<Item = Fact>) -> Self {
        self.because.extend(facts);
        self
    }

    /// Adds a recommended change.
    #[must_use]
    pub fn advice(mut self, advice: Advice) -> Self {
        self.advice.push(advice);
        self
    }

    /// Sets the gain that following the advice should bring.
    #[must_use]
    pub fn gain(mut self, gain: Promise) -> Self {
        self.gain = Some(gain);
        self
    }

    /// Sets the command that would show the limiting factor.
    #[must_use]
    pub fn verify(mut self, command: String) -> Self {
        self.verify = Some(command);
        self
    }
}

impl IntoIterator for Fact {
    type Item = Self;
    type IntoIter = std::iter::Once<Self>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}
