//! The log of what happened, the newest at the bottom.

use super::boxes::block;
use crate::log::{Entry, Tone};
use crate::theme::Theme;
use crate::view::View;
use crate::words::clock;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use torr_report::human::cut;

/// Draws as many of the newest entries as there is room for.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let block = block(" Log ", theme);
    let room = block.inner(area);
    let entries = view.log.entries();
    let newest = &entries[entries.len().saturating_sub(room.height.into())..];
    let lines: Vec<_> = newest.iter().map(|entry| line(entry, room.width, theme)).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn line(entry: &Entry, width: u16, theme: &Theme) -> Line<'static> {
    let style = match entry.tone {
        Tone::Plain => Style::new(),
        Tone::Warn => theme.warn,
        Tone::Bad => theme.bad,
    };
    let time = format!("{:>6}  ", clock(entry.t));
    let text = cut(&entry.text, usize::from(width).saturating_sub(time.len() + 3));
    Line::from(vec![Span::styled(time, theme.faint), Span::styled(text, style)])
}
