//! Frames with titles, and areas for them.

use crate::theme::Theme;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Block;

/// Returns a frame with a title.
pub fn block<'t>(title: impl Into<Line<'t>>, theme: &Theme) -> Block<'t> {
    Block::bordered().border_style(theme.faint).title(title)
}

/// Returns the part of an area in its middle, of at most this size.
pub fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}
