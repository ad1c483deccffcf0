//! The first two lines: what is loaded and how, and where the run stands.

use crate::theme::Theme;
use crate::view::{Phase, View};
use crate::words;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use torr_report::human::cut;

/// Draws the head.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let rows: [Rect; 2] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
    let right = [Line::styled(words::time(view), theme.strong), Line::styled(words::state(view), style(view, theme))];
    let target = usize::from(area.width).saturating_sub(right[0].width() + 9);
    let left = [
        Line::from(vec![
            Span::styled("torr  ", theme.faint),
            Span::styled(cut(&view.load.target, target), theme.strong),
        ]),
        Line::from(words::load(view)),
    ];
    for ((row, left), right) in rows.into_iter().zip(left).zip(right) {
        let room = right.width() as u16;
        let [begin, end] = Layout::horizontal([Constraint::Min(0), Constraint::Length(room)]).spacing(1).areas(row);
        frame.render_widget(Paragraph::new(left), begin);
        frame.render_widget(Paragraph::new(right).right_aligned(), end);
    }
}

fn style(view: &View, theme: &Theme) -> Style {
    match view.phase {
        Phase::Ending => theme.warn,
        _ if view.state.paused => theme.warn,
        Phase::Running if !view.is_warming_up() => theme.good,
        _ => theme.strong,
    }
}
