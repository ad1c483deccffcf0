//! The frame of a plot: title, grid, labels of the axes, direct labels of lines, and the table of its figures.

use super::WIDTH;
use super::scale::Scale;
use maud::{Markup, html};

/// The share of the width that the inner picture takes, in percent; the rest is for direct labels.
const INNER: f64 = 90.0;
/// That share where a label has more than four characters.
const INNER_OF_LONG_LABELS: f64 = 82.0;
/// The height below the inner picture for the labels of the horizontal axis, in pixels.
const BELOW: f64 = 22.0;
/// The height above it, in pixels, so that the label of the topmost line fits.
const ABOVE: f64 = 18.0;

/// A label at the right end of a line.
pub struct EndLabel {
    /// The text.
    pub text: String,
    /// The figure at which the line ends.
    pub figure: f64,
    /// The class of the line.
    pub class: &'static str,
}

/// A plot.
pub struct Frame<'f> {
    /// The title, which is the accessible name as well.
    pub title: &'f str,
    /// What the plot shows, in a sentence.
    pub description: String,
    /// The height of the inner picture in pixels.
    pub height: f64,
    /// The horizontal axis.
    pub x: Scale,
    /// The labels of the horizontal axis.
    pub x_labels: Vec<(f64, String)>,
    /// The vertical axis.
    pub y: Scale,
    /// The text of a figure of the vertical axis.
    pub y_text: fn(f64) -> String,
    /// The labels of lines.
    pub ends: Vec<EndLabel>,
}

impl Frame<'_> {
    /// Returns the plot around the lines, with a table of its figures below.
    pub fn around(&self, lines: &Markup, table: &Markup) -> Markup {
        let Self { title, description, height, .. } = self;
        let ticks = self.y.ticks();
        let is_long = self.ends.iter().any(|label| label.text.chars().count() > 4);
        let inner = if is_long { INNER_OF_LONG_LABELS } else { INNER };
        // Of many labels a phone shows every second one.
        let is_spare = |index: usize| self.x_labels.len() > 5 && index % 2 == 1;
        let top = |figure: f64| ABOVE + (1.0 - self.y.share(figure)) * height;
        html! {
            figure {
                figcaption { strong { (title) } " " span class="faint" { (description) } }
                svg class="plot" role="img" aria-label=(format!("{title}: {description}")) width="100%"
                    height=(format!("{:.0}", height + ABOVE + BELOW)) {
                    title { (title) }
                    desc { (description) }
                    @for tick in &ticks {
                        line class="grid" x1="0" x2=(percent(inner)) y1=(pixels(top(*tick))) y2=(pixels(top(*tick))) {}
                    }
                    svg x="0" y=(pixels(ABOVE)) width=(percent(inner)) height=(pixels(*height))
                        viewBox=(format!("0 0 {WIDTH} {height}")) preserveAspectRatio="none" overflow="visible" {
                        (lines)
                    }
                    @for tick in &ticks {
                        text class="tick" x="0" y=(pixels(top(*tick) - 4.0)) { ((self.y_text)(*tick)) }
                    }
                    @for (index, (figure, label)) in self.x_labels.iter().enumerate() {
                        text class=(anchor(self.x.share(*figure), is_spare(index))) x=(percent(self.x.share(*figure) * inner))
                            y=(pixels(ABOVE + height + 16.0)) { (label) }
                    }
                    @for (label, y) in self.spread(top) {
                        text class=(format!("end {}", label.class)) x=(percent(inner + 0.8)) y=(pixels(y)) { (label.text) }
                    }
                }
                (table)
            }
        }
    }

    /// Returns the labels of lines with their heights, at least a line of text apart.
    fn spread(&self, top: impl Fn(f64) -> f64) -> Vec<(&EndLabel, f64)> {
        let mut ends: Vec<_> = self.ends.iter().map(|label| (label, top(label.figure) + 4.0)).collect();
        ends.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut free = 0.0;
        for (_, y) in &mut ends {
            *y = y.max(free);
            free = *y + 14.0;
        }
        ends
    }
}

/// Returns the classes of a label at this share of the horizontal axis, which keep the label within the plot.
fn anchor(share: f64, is_spare: bool) -> String {
    let class = match share {
        ..0.03 => "tick",
        0.97.. => "tick last",
        _ => "tick middle",
    };
    if is_spare { format!("{class} spare") } else { class.into() }
}

fn percent(figure: f64) -> String {
    format!("{figure:.2}%")
}

fn pixels(figure: f64) -> String {
    format!("{figure:.1}")
}
