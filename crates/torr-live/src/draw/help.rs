//! What the keys do, over the screen.

use super::boxes::{block, middle};
use crate::theme::Theme;
use crate::view::View;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Wrap};
use torr_press::Steerable;

/// Draws the help.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let change = match view.load.steerable {
        Steerable::Rate(_) => Some("raise or lower the rate by a tenth; the result records it"),
        Steerable::Connections { .. } => Some("raise or lower the connections by a tenth; the result records it"),
        Steerable::Nothing | Steerable::Remote | Steerable::Script | Steerable::Times => None,
    };
    let is_own = view.load.steerable.has_pauses();
    let keys = [
        Some(("q", "end the run and print its result; thresholds decide the exit code")),
        is_own.then_some(("p", "pause: send no requests while the time runs on; again to continue")),
        change.map(|text| ("+ -", text)),
        Some(("m", "mark this moment in the log and in the result")),
        Some(("?", "show or hide this help")),
        Some(("Ctrl-C", "interrupt the run and print its result (exit code 130)")),
        is_own.then_some(("Ctrl-Z", "suspend the program and its load until 'fg'")),
        Some(("Ctrl-L", "redraw the screen")),
    ];
    let line = |(key, text): (&'static str, &'static str)| {
        Line::from(vec![Span::styled(format!(" {key:<8}"), theme.strong), Span::raw(text)])
    };
    let lines: Vec<_> = keys.into_iter().flatten().map(line).collect();
    let height = lines.len() as u16 + 2;
    let room = middle(area, 78, height.min(area.height));
    frame.render_widget(Clear, room);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }).block(block(" Keys ", theme)), room);
}
