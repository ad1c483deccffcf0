//! What scripts printed, the newest at the bottom.

use super::boxes::block;
use crate::theme::Theme;
use crate::view::View;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use torr_report::human::plural;

/// Draws as many of the newest lines as there is room for, each of them in as many rows as it needs.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let lines = view.printed.count();
    let title = vec![Span::raw(" Printed: "), Span::styled(plural(lines, "line") + " ", theme.faint)];
    let block = block(Line::from(title), theme);
    let room = block.inner(area);
    let mut rows: Vec<String> = Vec::new();
    let newest = view.printed.lines().len().saturating_sub(room.height.into());
    for line in view.printed.lines().skip(newest) {
        let letters: Vec<char> = line.chars().collect();
        rows.extend(letters.chunks(usize::from(room.width).max(1)).map(|row| row.iter().collect::<String>()));
    }
    let rows = rows.split_off(rows.len().saturating_sub(room.height.into()));
    let rows: Vec<_> = rows.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(rows).block(block), area);
}
