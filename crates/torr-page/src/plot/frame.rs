//! The frame of a plot: title, grid, labels of the axes, direct labels of lines, and the table of its figures.

use super::WIDTH;
use super::scale::Scale;
use maud::{Markup, html};

/// The height of a line of text in pixels.
const LINE: f64 = 16.0;
/// The height below the inner picture for the labels of the horizontal axis, in pixels.
const BELOW: f64 = 22.0;
/// The height above it, in pixels, so that the label of the topmost tick fits.
const ABOVE: f64 = 10.0;

/// That height where marks have labels.
const ABOVE_WITH_MARKS: f64 = 24.0;

/// The width of a letter on a phone, as a share of the plot's width.
const LETTER: f64 = 0.034;
/// The shares of the horizontal axis below and from which a label begins or ends at its figure.
const NEAR_BEGIN: f64 = 0.03;
const NEAR_END: f64 = 0.97;

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
    /// Points of the horizontal axis that a dashed line marks, each with its label above the plot.
    pub marks: Vec<(f64, String)>,
}

impl Frame<'_> {
    /// Returns the plot around the lines, with a table of its figures below.
    pub fn around(&self, lines: &Markup, table: &Markup) -> Markup {
        let Self { title, description, height, .. } = self;
        // Labels of a low plot would overlap.
        let room = (height / LINE).floor().max(1.0) as usize;
        let ticks = self.y.ticks();
        let each = ticks.len().div_ceil(room).max(1);
        let ticks: Vec<_> = ticks.into_iter().step_by(each).collect();
        let spare = self.spare();
        let above = if self.marks.is_empty() { ABOVE } else { ABOVE_WITH_MARKS };
        let top = |figure: f64| above + (1.0 - self.y.share(figure)) * height;
        html! {
            figure {
                figcaption { strong { (title) } " " span class="faint" { (description) } }
                svg class="plot" role="img" aria-label=(format!("{title}: {description}")) width="100%"
                    height=(format!("{:.0}", height + above + BELOW)) {
                    title { (title) }
                    desc { (description) }
                    @for tick in &ticks {
                        line class="grid" x1="0" x2="100%" y1=(pixels(top(*tick))) y2=(pixels(top(*tick))) {}
                    }
                    svg x="0" y=(pixels(above)) width="100%" height=(pixels(*height))
                        viewBox=(format!("0 0 {WIDTH} {height}")) preserveAspectRatio="none" overflow="visible" {
                        (lines)
                    }
                    @for (figure, label) in &self.marks {
                        @let x = percent(self.x.share(*figure) * 100.0);
                        line class="rule" x1=(x) x2=(x) y1=(pixels(above - 6.0)) y2=(pixels(above + height)) {}
                        text class=(anchor(self.x.share(*figure), false)) x=(x) y=(pixels(above - 10.0)) { (label) }
                    }
                    // What is left and right of the picture lies in the margins that the style sheet gives it.
                    @for tick in &ticks {
                        text class="tick last" x="-8" y=(pixels(top(*tick) + 4.0)) { ((self.y_text)(*tick)) }
                    }
                    @for (index, (figure, label)) in self.x_labels.iter().enumerate() {
                        text class=(anchor(self.x.share(*figure), spare[index])) data-at=(format!("{:.4}", self.x.share(*figure))) x=(percent(self.x.share(*figure) * 100.0))
                            y=(pixels(above + height + 16.0)) { (label) }
                    }
                    @for (label, y) in self.spread(top) {
                        text class=(format!("end {}", label.class)) x="100%" dx="6" y=(pixels(y)) { (label.text) }
                    }
                }
                (table)
            }
        }
    }

    /// Returns whether a phone has no room for each label of the horizontal axis beside those before it.
    fn spare(&self) -> Vec<bool> {
        let mut free = f64::NEG_INFINITY;
        let is_spare = |(figure, label): &(f64, String)| {
            let (share, width) = (self.x.share(*figure), label.chars().count() as f64 * LETTER);
            let left = match share {
                ..NEAR_BEGIN => share,
                NEAR_END.. => share - width,
                _ => share - width / 2.0,
            };
            let is_spare = left < free;
            if !is_spare {
                free = left + width + LETTER;
            }
            is_spare
        };
        self.x_labels.iter().map(is_spare).collect()
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
        ..NEAR_BEGIN => "tick",
        NEAR_END.. => "tick last",
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

#[cfg(test)]
mod tests {
    use super::super::tick::count_tick;
    use super::*;

    #[test]
    fn a_phone_shows_the_labels_that_do_not_lie_over_others() {
        let spare = |x: Scale, labels: &[f64]| {
            let x_labels = labels.iter().map(|label| (*label, count_tick(*label))).collect();
            let (title, description, y) = ("", String::new(), Scale::Linear(0.0, 1.0));
            let frame = Frame {
                title,
                description,
                height: 1.0,
                x,
                x_labels,
                y,
                y_text: count_tick,
                ends: vec![],
                marks: vec![],
            };
            frame.spare()
        };
        assert_eq!(spare(Scale::Linear(0.0, 4.0), &[0.0, 1.0, 2.0, 3.0, 4.0]), [false; 5]);
        let steps = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0, 200.0];
        let shown = spare(Scale::Log(1.0, 200.0), &steps);
        assert_eq!(shown, [false, false, false, false, false, false, false, true, false], "100 lies over 64");
    }
}
