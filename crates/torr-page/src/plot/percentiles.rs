//! The distribution of response times by percentile, on an axis on which each further nine takes as much room.

use super::envelope::Column;
use super::frame::{EndLabel, Frame};
use super::line::line;
use super::scale::Scale;
use super::tick::time_tick;
use maud::{Markup, html};
use torr_report::human::{count, micros};

/// The classes of lines in the order of their use.
pub const CLASSES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The counts of a histogram, ascending by time.
pub struct Counts(Vec<(f64, f64)>);

impl Counts {
    /// Reads words `US:COUNT`. Words that are none are passed over, and times below 1 us are raised to it, as a logarithmic scale
    /// has no 0. `None` if there is no count.
    pub fn parse(words: &str) -> Option<Self> {
        let word = |word: &str| {
            let (time, count) = word.split_once(':')?;
            Some((time.parse::<u64>().ok()?.max(1) as f64, count.parse::<u64>().ok()? as f64))
        };
        let mut counts: Vec<_> = words.split_whitespace().filter_map(word).filter(|word| word.1 > 0.0).collect();
        counts.sort_by(|a, b| a.0.total_cmp(&b.0));
        (!counts.is_empty()).then_some(Self(counts))
    }

    /// Returns each time in microseconds with its count.
    pub fn each(&self) -> impl Iterator<Item = (f64, f64)> {
        self.0.iter().copied()
    }

    /// Returns the number of samples.
    pub fn total(&self) -> f64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Returns the time within which a share of the samples lies.
    pub fn at(&self, share: f64) -> f64 {
        let (wanted, mut seen) = (share * self.total(), 0.0);
        let found = self.0.iter().find(|(_, count)| {
            seen += count;
            seen >= wanted - 1e-6
        });
        found.or(self.0.last()).map_or(0.0, |(time, _)| *time)
    }

    /// Returns a percentile, by its share, of counts that are steps of a decade; `None` where fewer than five samples are slower.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        (self.total() * (1.0 - share) >= 5.0).then(|| self.at(share))
    }
}

/// The words of a plot.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The title.
    pub title: &'static str,
    /// The name of the times.
    pub name: &'static str,
    /// What a tenth as many of do with each step to the right.
    pub slower: &'static str,
}

/// Returns the plot of response times: one or several distributions, each with its name.
pub fn plot(distributions: &[(String, Counts)]) -> Option<Markup> {
    let words = Words { title: "Response time by percentile", name: "response time", slower: "requests are slower" };
    titled(words, distributions)
}

/// Returns the plot of one or several distributions of other times.
pub fn titled(words: Words, distributions: &[(String, Counts)]) -> Option<Markup> {
    let samples = distributions.iter().map(|(_, counts)| counts.total()).fold(0.0, f64::max);
    if samples < 2.0 {
        return None;
    }
    // A percentile that less than one sample lies beyond is not known.
    let nines = samples.log10().clamp(0.3, 6.0);
    let x = Scale::Linear(0.0, nines);
    let least = distributions.iter().map(|(_, counts)| counts.at(0.0)).fold(f64::INFINITY, f64::min);
    let most = distributions.iter().map(|(_, counts)| counts.at(1.0)).fold(0.0, f64::max);
    let y = Scale::of_times(least, most);
    let height = 240.0;
    let columns = |counts: &Counts| -> Vec<Column> {
        let nines = counts.total().log10().clamp(0.3, 6.0);
        let column = |step: u32| {
            let x = nines * f64::from(step) / 160.0;
            let time = counts.at(1.0 - 10f64.powf(-x));
            Column { x, least: time, most: time }
        };
        (0..=160).map(column).collect()
    };
    let drawn: Vec<_> = distributions.iter().map(|(name, counts)| (name, columns(counts))).collect();
    let lines = html! {
        @for ((_, columns), class) in drawn.iter().zip(CLASSES) { (line(columns, x, y, height, class)) }
    };
    // Names that a label has no room for stand in a legend, by letters.
    let has_letters = distributions.len() > 1 && distributions.iter().any(|(name, _)| short(name).ends_with('…'));
    let end = |((name, columns), class): (&(&String, Vec<Column>), &'static str)| EndLabel {
        text: match distributions {
            [_] => String::new(),
            _ if has_letters => letter(class).into(),
            _ => short(name),
        },
        figure: columns.last().map_or(0.0, |column| column.most),
        class,
    };
    let frame = Frame {
        title: words.title,
        description: format!(
            "{} samples; with each step to the right, a tenth as many {}.",
            count(distributions.iter().map(|(_, counts)| counts.total()).sum::<f64>() as u64),
            words.slower
        ),
        height,
        x,
        x_labels: labels(nines),
        y,
        y_text: time_tick,
        ends: drawn.iter().zip(CLASSES).map(end).collect(),
        marks: Vec::new(),
    };
    let below = html! { @if has_letters { (legend(distributions)) } (table(distributions)) };
    Some(frame.around(&lines, &below))
}

/// Returns the letter of a class of lines.
fn letter(class: &'static str) -> &'static str {
    CLASSES.iter().position(|one| *one == class).and_then(|at| ["A", "B", "C", "D", "E", "F"].get(at)).unwrap_or(&"?")
}

/// Returns the names of the lines by their letters.
fn legend(distributions: &[(String, Counts)]) -> Markup {
    html! {
        p.sub.legend {
            @for ((name, _), class) in distributions.iter().zip(CLASSES) {
                span { strong class=(format!("name {class}")) { (letter(class)) } " " (name) }
            }
        }
    }
}

/// Returns as much of a file's name as a label has room for.
fn short(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.strip_suffix(".json").unwrap_or(name);
    if name.chars().count() <= 9 { name.into() } else { name.chars().take(8).chain(['…']).collect() }
}

/// Returns the percentiles that have a label.
fn labels(nines: f64) -> Vec<(f64, String)> {
    let known = [(0.301, "p50"), (1.0, "p90"), (2.0, "p99"), (3.0, "p99.9"), (4.0, "p99.99"), (5.0, "p99.999")];
    known.into_iter().filter(|(at, _)| *at <= nines).map(|(at, name)| (at, name.to_owned())).collect()
}

fn table(distributions: &[(String, Counts)]) -> Markup {
    let shares = [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999].map(|share| (share, name_of(share)));
    html! {
        details open {
            summary { "Figures as a table" }
            div class="wide" tabindex="0" role="group" aria-label="Percentiles" {
                table {
                    thead { tr { th scope="col" { "percentile" } @for (name, _) in distributions { th scope="col" { (name) } } } }
                    tbody {
                        @for (share, name) in shares {
                            tr {
                                th scope="row" { (name) }
                                @for (_, counts) in distributions {
                                    // Beyond a percentile there has to be a sample.
                                    @if counts.total() * (1.0 - share) >= 1.0 { td { (micros(counts.at(share))) } }
                                    @else { td { "–" } }
                                }
                            }
                        }
                        tr { th scope="row" { "most" } @for (_, counts) in distributions { td { (micros(counts.at(1.0))) } } }
                    }
                }
            }
        }
    }
}

fn name_of(share: f64) -> String {
    if share == 0.0 { "least".into() } else { format!("p{}", (share * 1e7).round() / 1e5) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_of_files_become_short() {
        assert_eq!(["a/b/run.json", "a-very-long-name"].map(short), ["run", "a-very-l…"]);
    }

    #[test]
    fn percentiles_come_from_counts() {
        let counts = Counts::parse("100:90 1000:9 x 50000:1 7:0").expect("there are counts");
        assert_eq!(
            [counts.at(0.5), counts.at(0.9), counts.at(0.91), counts.at(0.99), counts.at(1.0)],
            [100.0, 100.0, 1000.0, 1000.0, 50_000.0]
        );
        assert_eq!(Counts::parse("0:5").map(|counts| counts.at(1.0)), Some(1.0), "a histogram begins at 1 us");
        assert!(Counts::parse("").is_none() && Counts::parse("a:b 5").is_none());
        assert_eq!([name_of(0.5), name_of(0.999), name_of(0.99999)], ["p50", "p99.9", "p99.999"]);
    }
}
