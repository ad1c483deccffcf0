//! Lines of metrics, with their figures in columns.

use super::data::{Metric, SummaryOptions, Values};
use super::figures::{percent, rounded, value};
use super::paint::Paint;

/// The width that dots fill behind the longest name.
const LEADER: usize = 3;

/// A metric's line before its width is known.
#[derive(Debug)]
pub struct Line {
    /// The name with its indentation and marks.
    name: String,
    /// The width of the name without colours.
    width: usize,
    figures: Figures,
}

#[derive(Debug)]
enum Figures {
    /// Statistics, each with its name.
    Trend(Vec<(String, String)>),
    /// A main figure and what stands behind it.
    Plain(String, Vec<String>),
}

impl Line {
    /// Returns the line of a metric under this name, `width` characters wide.
    pub fn of(name: String, width: usize, metric: &Metric, options: &SummaryOptions) -> Self {
        let (contains, unit) = (metric.contains, options.time_unit.as_str());
        let figures = match &metric.values {
            Values::Trend(stats) => Figures::Trend(
                stats
                    .iter()
                    .map(|(name, number)| {
                        let is_count = name == "count";
                        let text = if is_count { rounded(*number, 0) } else { value(*number, contains, unit) };
                        (name.clone(), text)
                    })
                    .collect(),
            ),
            Values::Counter { count, rate } => {
                Figures::Plain(value(*count, contains, unit), vec![format!("{}/s", value(*rate, contains, unit))])
            }
            Values::Gauge { value: last, min, max } => {
                let extremes = [("min", min), ("max", max)];
                let extremes = extremes.map(|(name, number)| format!("{name}={}", value(*number, contains, unit)));
                Figures::Plain(value(*last, contains, unit), extremes.to_vec())
            }
            Values::Rate { rate, passes, fails } => {
                Figures::Plain(percent(*rate), vec![format!("{passes} out of {}", passes + fails)])
            }
        };
        Self { name, width, figures }
    }

    /// Returns a line with a main figure and one behind it.
    pub fn plain(name: &str, figure: String, behind: String) -> Self {
        Self { name: name.to_owned(), width: width(name), figures: Figures::Plain(figure, vec![behind]) }
    }
}

/// The widths of the columns of several lines.
#[derive(Debug, Default)]
pub struct Columns {
    name: usize,
    trend: Vec<usize>,
    plain: usize,
    behind: Vec<usize>,
}

impl Columns {
    /// Returns the columns that these lines need.
    pub fn of<'l>(lines: impl IntoIterator<Item = &'l Line>) -> Self {
        let mut columns = Self::default();
        for line in lines {
            columns.name = columns.name.max(line.width);
            match &line.figures {
                Figures::Trend(stats) => {
                    widen(&mut columns.trend, stats.iter().map(|(_, text)| width(text)));
                }
                Figures::Plain(figure, behind) => {
                    columns.plain = columns.plain.max(width(figure));
                    // A single text behind the figure ends its line, so that it needs no column.
                    widen(&mut columns.behind, behind.iter().map(|text| width(text)));
                }
            }
        }
        columns
    }

    /// Returns a line's text with its end of line.
    pub fn text(&self, line: &Line, paint: Paint) -> String {
        let dots = ".".repeat(self.name + LEADER - line.width);
        let figures = match &line.figures {
            Figures::Trend(stats) => {
                let padded = stats.iter().zip(&self.trend).map(|((name, text), wanted)| {
                    format!("{name}={}{}", paint.figure(text), " ".repeat(wanted - width(text)))
                });
                padded.collect::<Vec<_>>().join(" ")
            }
            Figures::Plain(figure, behind) => {
                let mut text = format!("{}{}", paint.figure(figure), " ".repeat(self.plain - width(figure)));
                for (index, (more, wanted)) in behind.iter().zip(&self.behind).enumerate() {
                    text += &format!(" {}", paint.lesser(more));
                    if index + 1 < behind.len() {
                        text += &" ".repeat(wanted - width(more));
                    }
                }
                text
            }
        };
        format!("{}{} {figures}\n", line.name, paint.faint(&format!("{dots}:")))
    }
}

fn widen(widths: &mut Vec<usize>, wanted: impl Iterator<Item = usize>) {
    for (index, width) in wanted.enumerate() {
        match widths.get_mut(index) {
            Some(known) => *known = (*known).max(width),
            None => widths.push(width),
        }
    }
}

/// Returns the number of characters of a text.
pub fn width(text: &str) -> usize {
    text.chars().count()
}
