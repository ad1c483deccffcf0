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

/// Draws the head of a run.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let right = [Line::styled(words::time(view), theme.strong), Line::styled(words::state(view), style(view, theme))];
    draw_lines(frame, area, (&view.load.target, words::load(view)), right, theme);
}

/// Draws the target and a line about what loads it, each with a line at the right.
pub fn draw_lines(
    frame: &mut Frame<'_>,
    area: Rect,
    (target, about): (&str, String),
    right: [Line<'static>; 2],
    theme: &Theme,
) {
    let rows: [Rect; 2] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
    let room = usize::from(area.width).saturating_sub(right[0].width() + 9);
    let left = [
        Line::from(vec![Span::styled("torr  ", theme.faint), Span::styled(cut(target, room), theme.strong)]),
        Line::from(about),
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
