//! The diagnosis as text.

use super::written::WrittenDiagnosis;
use std::fmt::Write;
use torr_report::human::plural;
use torr_report::human::printable;
use torr_report::style::{FAINT, STRONG, paint};
use torr_report::{sentence, text};

/// All that is shown.
pub fn text(written: &WrittenDiagnosis) -> String {
    let WrittenDiagnosis { diagnosis, verdict, remarks, trail, located, .. } = written;
    let mut out = String::new();
    let _ = writeln!(out, "{}\n", paint(STRONG, &diagnosis.target));
    out += &text::verdict(verdict);
    for (what, line) in located.iter().flat_map(sentence::place_lines) {
        let _ = writeln!(out, "  {:<12} {} {}", "", paint(FAINT, what), printable(&line));
    }
    for remark in remarks {
        let _ = writeln!(out, "  {:<12} {} {remark}", "", paint(FAINT, "also"));
    }
    let experiments = plural(trail.len() as u64, "experiment");
    let by_agents = |agents: usize| format!(", by {} of a fleet", plural(agents as u64, "agent"));
    let by = diagnosis.setting.agents.map_or_else(String::new, by_agents);
    let early = if diagnosis.interrupted { ", interrupted" } else { "" };
    let line = format!("{experiments} in {:.0} s{by}{early}", diagnosis.seconds);
    let _ = writeln!(out, "\n  {}", paint(FAINT, line));
    out
}
