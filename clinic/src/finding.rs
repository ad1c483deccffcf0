//! A diagnosis, whatever made it.

use serde::Serialize;
use serde_json::Value;
use torr_gauge::{Confidence, Factor, Gain, Verdict};
use torr_test_support::error::Error;

/// A diagnosis.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub factor: Factor,
    pub confidence: Confidence,
    /// The duration as the doctor counts it, or the wall-clock time of a plain run.
    pub seconds: f64,
    pub summary: String,
    /// The gain that the verdict promises.
    pub gain: Option<Gain>,
    /// The JSON of the diagnosis or of the plain run.
    pub trail: Value,
}

impl Finding {
    /// Reads the verdict from the JSON of a diagnosis or of a plain run.
    ///
    /// # Errors
    /// If there is a verdict that cannot be read.
    pub fn read(trail: Value, seconds: f64) -> Result<Self, Error> {
        let verdict = serde_json::from_value(trail["verdict"].clone()).map_err(Error::at("torr's verdict"))?;
        let none = || Verdict::new(Factor::Unknown, Confidence::Unknown, "");
        let Verdict { factor, confidence, summary, gain, .. } = Option::unwrap_or_else(verdict, none);
        let seconds = trail["seconds"].as_f64().unwrap_or(seconds);
        Ok(Self { factor, confidence, seconds, summary, gain, trail })
    }
}
