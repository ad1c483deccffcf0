//! The text of a summary in the layout of k6 before 1.0: groups with their checks, then one list of all metrics.

use super::checks::{check_lines, mark};
use super::columns::{Columns, Line, width};
use super::data::{Group, Summary, selector};
use super::paint::Paint;

/// The indentation of everything.
const INDENT: &str = "     ";

/// Returns the text.
pub fn text(summary: &Summary, paint: Paint) -> String {
    let mut text = "\n".to_owned();
    group(&summary.root, INDENT, paint, &mut text);
    let lines: Vec<_> = summary
        .metrics
        .iter()
        .map(|(name, metric)| {
            let selector = selector(name).map(|(_, selector)| format!("{{ {selector} }}"));
            let (indent, shown) = match &selector {
                Some(selector) => ("  ", selector),
                None => ("", name),
            };
            // A mark takes the place of the last two blanks before a name.
            let marked = match metric.thresholds.is_empty() {
                true => format!("{INDENT}{indent}{shown}"),
                false => {
                    let ok = metric.thresholds.iter().all(|threshold| threshold.ok);
                    format!("{}{indent}{} {shown}", &INDENT[2..], mark(ok, paint))
                }
            };
            Line::of(marked, INDENT.len() + indent.len() + width(shown), metric, &summary.options)
        })
        .collect();
    let columns = Columns::of(&lines);
    for line in &lines {
        text += &columns.text(line, paint);
    }
    text + "\n"
}

fn group(group: &Group, indent: &str, paint: Paint, text: &mut String) {
    for check in &group.checks {
        *text += &check_lines(check, indent, " ", paint);
    }
    if !group.checks.is_empty() {
        text.push('\n');
    }
    for inner in &group.groups {
        *text += &format!("{indent}█ {}\n\n", inner.name);
        self::group(inner, &format!("{indent}  "), paint, text);
    }
}
