//! The verdict of a run on one line, beside the layouts of other load generators.

use crate::sentence::{self, Named};
use torr_gauge::Factor;
use torr_gauge::collector::Measurement;

/// Returns the line that Torr prints beside another program's layout: what limits the service, and which figures differ
/// from that program's.
pub fn verdict_line(measured: &Measurement, notes: &[String]) -> String {
    let limit = measured.result.verdict.as_ref().map(|verdict| {
        if verdict.factor == Factor::None {
            return verdict.summary.clone();
        }
        let Named { before, name, behind } = sentence::brief_factor(verdict);
        format!("{before}{}{behind}: {}", name.unwrap_or_default(), verdict.summary)
    });
    let sentences: Vec<_> = limit.iter().chain(notes).map(|text| text.trim_end_matches('.')).collect();
    sentences.join("; ")
}
