//! The last line: the keys.

use crate::keys::legend;
use crate::theme::Theme;
use crate::view::View;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// Draws the keys that do something in this run.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let keys = legend(view.load.steerable, view.state.paused);
    let spans = keys.into_iter().flat_map(|(key, does)| {
        [Span::styled(format!(" {key} "), theme.strong), Span::styled(format!("{does}  "), theme.faint)]
    });
    frame.render_widget(Paragraph::new(Line::from(spans.collect::<Vec<_>>())), area);
}
