//! The diagnosis as text.

use super::written::WrittenDiagnosis;
use std::fmt::Write;
use torr_report::style::{FAINT, STRONG, paint};
use torr_report::text;

/// All that is shown.
pub fn text(written: &WrittenDiagnosis) -> String {
    let WrittenDiagnosis { diagnosis, verdict, remarks, trail, .. } = written;
    let mut out = String::new();
    let _ = writeln!(out, "{}\n", paint(STRONG, &diagnosis.target));
    out += &text::verdict(verdict);
    for remark in remarks {
        let _ = writeln!(out, "  {:<12} {} {remark}", "", paint(FAINT, "also"));
    }
    let experiments = trail.len();
    let by = match diagnosis.setting.agents {
        None => String::new(),
        Some(1) => ", by 1 agent of a fleet".into(),
        Some(agents) => format!(", by {agents} agents of a fleet"),
    };
    let early = if diagnosis.interrupted { ", interrupted" } else { "" };
    let line = format!("{experiments} experiments in {:.0} s{by}{early}", diagnosis.seconds);
    let _ = writeln!(out, "\n  {}", paint(FAINT, line));
    out
}
