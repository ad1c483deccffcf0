//! The screen from top to bottom: each file draws one part.

mod boxes;
mod chart;
mod figures;
mod foot;
mod happened;
mod head;
mod help;
mod plots;
mod printed;
mod steps;
mod suspicion;
#[cfg(test)]
mod tests;

use crate::procedure::Procedure;
use crate::theme::Theme;
use crate::view::View;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::widgets::{Paragraph, Wrap};

/// The least room of the screen, in columns and rows.
const LEAST: (u16, u16) = (50, 12);

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, view: &View, theme: &Theme) {
    let area = frame.area();
    if !is_enough(frame, "q ends the run, ? explains the keys") {
        return;
    }
    // What there is little room for is left out from the bottom.
    let spare = area.height.saturating_sub(2 + 1 + figures::ROWS);
    let log = if spare >= 22 { (spare - 10) / 2 } else { 6.min(spare.saturating_sub(11)) };
    let suspicion = match spare {
        ..9 => 0,
        9..22 => 5,
        22.. => 8,
    };
    let [head, plots, figures, suspicious, happened, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(3),
        Constraint::Length(figures::ROWS),
        Constraint::Length(suspicion),
        Constraint::Length(log),
        Constraint::Length(1),
    ])
    .areas(area);
    head::draw(frame, head, view, theme);
    plots::draw(frame, plots, view, theme);
    figures::draw(frame, figures, view, theme);
    suspicion::draw(frame, suspicious, view, theme);
    let [happened, printed] = match view.printed.count() {
        0 => [happened, Rect::ZERO],
        _ => Layout::horizontal([Constraint::Fill(1); 2]).areas(happened),
    };
    happened::draw(frame, happened, view, theme);
    if view.printed.count() > 0 {
        printed::draw(frame, printed, view, theme);
    }
    foot::draw(frame, foot, view, theme);
    if view.shows_help {
        help::draw(frame, area, view, theme);
    }
}

/// Draws the whole screen of a procedure.
pub fn draw_procedure(frame: &mut Frame<'_>, procedure: &Procedure, theme: &Theme) {
    if is_enough(frame, "q ends it") {
        let area = frame.area();
        steps::draw(frame, area, procedure, theme);
    }
}

/// Whether there is room for the screen; says so if not.
fn is_enough(frame: &mut Frame<'_>, keys: &str) -> bool {
    let area = frame.area();
    let is_enough = area.width >= LEAST.0 && area.height >= LEAST.1;
    if !is_enough {
        let text = format!("{} x {} is too small: {keys}", area.width, area.height);
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
    }
    is_enough
}
