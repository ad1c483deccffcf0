//! A comparison as text and as Markdown.

use super::sentences;
use crate::output;
use crate::shown::shown;
use std::fmt::Write;
use torr_lab::gate::Kept;
use torr_lab::judgement::Finding;
use torr_lab::metric::Metric;
use torr_lab::report::{Conclusion, Report, main};
use torr_report::human::{difference, micros, per_second, plural};
use torr_report::style::{BAD, FAINT, GOOD, STRONG, paint};
use torr_report::table;

/// Returns all as text.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", paint(FAINT, noise(report)));
    let _ = writeln!(out, "  {}  {}\n  {}  {}\n", paint(STRONG, "A"), report.a, paint(STRONG, "B"), report.b);
    let _ = writeln!(out, "  {}  {}", paint(STRONG, "result"), result(report));
    for judged in &report.rules {
        let style = match judged.outcome {
            Kept::Passed => GOOD,
            Kept::Failed => BAD,
            Kept::CannotTell => STRONG,
        };
        let because = sentences::because(report, judged);
        let _ = writeln!(out, "  {}  {}: {because}", paint(style, kept(judged.outcome)), judged.rule);
    }
    let faint = |name: &str| paint(FAINT, name);
    let mut lines = vec![["", "A", "B", "difference"].map(faint).to_vec()];
    lines.extend(rows(report).into_iter().map(Vec::from));
    let table = table::align_within(&lines, output::columns_of_table());
    out.push('\n');
    table.lines().for_each(|line| out += &format!("  {line}\n"));
    out.push('\n');
    for line in remarks(report) {
        let _ = writeln!(out, "  {}", paint(FAINT, line));
    }
    out
}

/// Returns all as Markdown.
pub fn markdown(report: &Report) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut out = format!("### torr compare: {}\n\n{}\n\n", result(report), noise(report));
    let _ = writeln!(out, "A: `{}`  \nB: `{}`\n", report.a, report.b);
    if !report.rules.is_empty() {
        out += "| threshold | | |\n|---|---|---|\n";
        for judged in &report.rules {
            let (rule, because) = (cell(&judged.rule.to_string()), cell(&sentences::because(report, judged)));
            let _ = writeln!(out, "| `{rule}` | **{}** | {because} |", kept(judged.outcome));
        }
        out.push('\n');
    }
    out += "| | A | B | difference |\n|---|---|---|---|\n";
    for row in rows(report) {
        let _ = writeln!(out, "| {} |", row.map(|text| cell(&text)).join(" | "));
    }
    out.push('\n');
    remarks(report).iter().for_each(|line| out += &format!("- {line}\n"));
    out
}

/// Returns the first line: the smallest difference that the comparison can show.
fn noise(report: &Report) -> String {
    let smallest = main(&report.findings).and_then(|main| Some((main.metric, report.smallest.get(&main.metric)?)));
    match smallest {
        Some((metric, smallest)) => format!(
            "smallest difference that can be shown: {} in {}, by the noise of {} of A against A and {} of A against B",
            difference(*smallest),
            metric.name(),
            plural(report.noise_blocks.len() as u64, "block"),
            report.blocks.len()
        ),
        None if report.blocks.is_empty() => "comparison of results: the noise of A against A is unknown".into(),
        None => "too few valid turns to know the smallest difference that can be shown".into(),
    }
}

fn result(report: &Report) -> String {
    let shown = main(&report.findings).map_or_else(|| nothing(report).into(), sentences::finding);
    match report.conclusion() {
        _ if report.rules.is_empty() => shown,
        Conclusion::Shown => format!("passed; {shown}"),
        Conclusion::Failed => format!("failed; {shown}"),
        Conclusion::CannotTell => format!("cannot tell whether a threshold holds; {shown}"),
    }
}

fn nothing(report: &Report) -> &'static str {
    match report.left_out {
        0 => "nothing was measured",
        _ => "cannot tell: all turns or results were invalid and left out",
    }
}

fn kept(kept: Kept) -> &'static str {
    match kept {
        Kept::Passed => "passed",
        Kept::Failed => "failed",
        Kept::CannotTell => "cannot tell",
    }
}

fn rows(report: &Report) -> Vec<[String; 4]> {
    let measured = report.findings.iter().filter(|finding| finding.a.is_some() || finding.pairs > 0);
    let cell = |finding: &Finding, value: Option<f64>| value.map_or("-".into(), |value| shown(finding.metric, value));
    let row = |finding: &Finding| {
        let (a, b) = (cell(finding, finding.a), cell(finding, finding.b));
        [finding.metric.name().into(), a, b, sentences::finding(finding)]
    };
    let mut rows: Vec<_> = measured.map(row).collect();
    if let Some(means) = &report.means {
        // After the CPU time, with which it is to be read.
        let at = rows.iter().position(|[name, ..]| name == Metric::Cpu.name()).map_or(0, |cpu| cpu + 1);
        rows.insert(at, ["mean".into(), micros(means.a), micros(means.b), sentences::means(means)]);
    }
    rows
}

fn remarks(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(fixed) = report.rate {
        let state = if report.interrupted { ", interrupted" } else { "" };
        lines.push(format!(
            "{} in {:.0} s{state}, {}, CPU and response times at {}, seed {}",
            plural(report.blocks.len() as u64, "block"),
            report.seconds,
            plural(report.connections as u64, "connection"),
            per_second(fixed),
            report.seed
        ));
    }
    if !report.reasons.is_empty() {
        let reasons: Vec<_> = report.reasons.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
        lines.push(format!(
            "{} left out as invalid; reasons by turn or result: {}",
            report.left_out,
            reasons.join(", ")
        ));
    }
    lines.extend(report.notes.iter().map(|note| sentences::note(*note)));
    lines
}
