//! The text of a summary in its modes.

use super::checks::{check_lines, mark};
use super::columns::{Columns, Line, width};
use super::data::{Check, Group, Metric, Summary, SummaryOptions, Threshold, Values, selector};
use super::figures::{percent, rounded, value};
use super::legacy;
use super::paint::Paint;
use super::sections::{Section, section};
use std::collections::BTreeMap;

/// What the text shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Thresholds and what most people look at.
    #[default]
    Compact,
    /// All metrics, also of each group and scenario.
    Full,
    /// One list by name, in the layout of k6 before 1.0.
    Legacy,
}

/// Returns the text of a summary.
pub fn text(summary: &Summary, mode: Mode) -> String {
    let paint = Paint(!summary.options.no_color);
    match mode {
        Mode::Legacy => legacy::text(summary, paint),
        Mode::Compact | Mode::Full => Writer { summary, paint, full: mode == Mode::Full, text: String::new() }.write(),
    }
}

struct Writer<'s> {
    summary: &'s Summary,
    paint: Paint,
    full: bool,
    text: String,
}

impl Writer<'_> {
    fn write(mut self) -> String {
        self.thresholds();
        self.title("\n\n  █ ", "TOTAL RESULTS");
        let summary = self.summary;
        // A threshold on checks shows them, also where there were none.
        if summary.metrics.contains_key("checks") || !summary.checks.is_empty() {
            self.checks(&summary.checks, "    ", "  ");
        }
        self.metrics(&summary.metrics, "    ");
        if self.full {
            for group in &summary.groups.groups {
                self.title("\n  █ ", &format!("GROUP: {}", group.name));
                self.group(group, "    ");
            }
            for (name, part) in &summary.scenarios {
                self.title("\n  █ ", &format!("SCENARIO: {name}"));
                self.group(&part.root, "    ");
            }
        }
        self.text += "\n\n";
        self.text
    }

    fn title(&mut self, before: &str, title: &str) {
        self.text += &format!("{before}{} \n\n", self.paint.title(title));
    }

    /// Writes what is known of a group, or of a scenario's root.
    fn group(&mut self, group: &Group, indent: &str) {
        let deeper = if indent.len() > 4 { "    " } else { "  " };
        if !group.checks.is_empty() {
            self.checks(&group.checks, indent, deeper);
        }
        self.metrics(&group.metrics, indent);
        for inner in &group.groups {
            self.title(&format!("{indent}↳ "), &format!("GROUP: {}", inner.name));
            self.group(inner, &format!("{indent}  "));
        }
    }

    fn thresholds(&mut self) {
        let metrics = &self.summary.metrics;
        let judged = |name: &str| metrics.get(name).is_some_and(|metric| !metric.thresholds.is_empty());
        let mut named = metrics.iter().filter(|(name, _)| judged(name)).peekable();
        if named.peek().is_none() {
            return;
        }
        self.title("\n\n  █ ", "THRESHOLDS");
        let mut blocks = Vec::new();
        for (name, metric) in named {
            // A selector stands below its metric, if that has thresholds, too.
            let below = selector(name).filter(|(parent, _)| judged(parent));
            let (heading, indent) = match below {
                Some((_, selector)) => (format!("{{{selector}}}"), "      "),
                None => (name.clone(), "    "),
            };
            let lines = metric
                .thresholds
                .iter()
                .map(|threshold| format!("{indent}{}\n", self.threshold(threshold, metric, &self.summary.options)));
            blocks.push(format!("{indent}{heading}\n{}", lines.collect::<String>()));
        }
        self.text += &blocks.join("\n");
    }

    fn threshold(&self, threshold: &Threshold, metric: &Metric, options: &SummaryOptions) -> String {
        let Threshold { source, aggregate, value: number, ok } = threshold;
        let mark = mark(*ok, self.paint);
        let text = match (&metric.values, aggregate.as_str()) {
            (Values::Rate { .. }, _) => percent(*number),
            (Values::Counter { .. }, "rate") => format!("{}/s", value(*number, metric.contains, &options.time_unit)),
            _ => value(*number, metric.contains, &options.time_unit),
        };
        format!("{mark} '{source}' {aggregate}={}", self.paint.figure(&text))
    }

    fn checks(&mut self, checks: &[Check], indent: &str, deeper: &str) {
        let (passes, fails) = checks.iter().fold((0, 0), |(p, f), check| (p + check.passes, f + check.fails));
        let total = passes + fails;
        let seconds = self.summary.state.duration_ms / 1000.0;
        let rate = if seconds > 0.0 { total as f64 / seconds } else { 0.0 };
        let share = |part: u64| if total == 0 { 0.0 } else { part as f64 / total as f64 };
        let lines = [
            Line::plain("checks_total", total.to_string(), format!("{}/s", rounded(rate, 6))),
            Line::plain("checks_succeeded", percent(share(passes)), format!("{passes} out of {total}")),
            Line::plain("checks_failed", percent(share(fails)), format!("{fails} out of {total}")),
        ];
        let columns = Columns::of(&lines);
        for line in &lines {
            self.text += &format!("{indent}{}", columns.text(line, self.paint));
        }
        self.text.push('\n');
        for check in checks {
            self.text += &check_lines(check, indent, deeper, self.paint);
        }
        self.text.push('\n');
    }

    fn metrics(&mut self, metrics: &BTreeMap<String, Metric>, indent: &str) {
        let mut lines: Vec<(Section, Line)> = Vec::new();
        for (name, metric) in metrics {
            let (parent, selector) = selector(name).map_or((name.as_str(), None), |(name, tags)| (name, Some(tags)));
            let Some(section) = section(parent, self.full) else { continue };
            let shown = selector.map_or_else(|| name.clone(), |selector| format!("  {{ {selector} }}"));
            let width = width(&shown);
            lines.push((section, Line::of(shown, width, metric, &self.summary.options)));
        }
        // Stable: by name within a section.
        lines.sort_by_key(|(section, _)| *section);
        let columns = Columns::of(lines.iter().map(|(_, line)| line));
        let mut last = None;
        for (section, line) in &lines {
            if last != Some(*section) {
                if last.is_some() {
                    self.text.push('\n');
                }
                self.text += &format!("{indent}{}\n", self.paint.title(section.title()));
                last = Some(*section);
            }
            self.text += &format!("{indent}{}", columns.text(line, self.paint));
        }
        if last.is_some() {
            self.text.push('\n');
        }
    }
}
