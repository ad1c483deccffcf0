//! The verdict of a run on one line, beside the layouts of other load generators.

use torr_gauge::Factor;
use torr_gauge::collector::Measurement;

/// Returns the line that Torr prints beside another program's layout: what limits the service, and which figures differ
/// from that program's.
pub fn verdict_line(measured: &Measurement, notes: &[String]) -> String {
    let limit = measured.result.verdict.as_ref().map(|verdict| match verdict.factor {
        Factor::Unknown => format!("limiting factor unknown: {}", verdict.summary),
        Factor::None => verdict.summary.clone(),
        factor => format!("limited by {factor} ({}): {}", verdict.confidence, verdict.summary),
    });
    let sentences: Vec<_> = limit.iter().chain(notes).map(|text| text.trim_end_matches('.')).collect();
    sentences.join("; ")
}
