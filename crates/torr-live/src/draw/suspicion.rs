//! What the doctor suspects so far, with its evidence.

use super::boxes::block;
use crate::theme::Theme;
use crate::view::View;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};
use torr_gauge::{Confidence, Factor};
use torr_report::human::printable;

/// Draws the suspicion.
pub fn draw(frame: &mut Frame<'_>, area: Rect, view: &View, theme: &Theme) {
    let verdict = view.result.as_ref().and_then(|result| result.verdict.as_ref()).filter(|_| view.can_judge());
    let Some(verdict) = verdict else {
        let text = Paragraph::new("too early to tell").style(theme.faint);
        return frame.render_widget(text.block(block(" Suspected limit ", theme)), area);
    };
    let name = match (verdict.confidence, verdict.factor) {
        (Confidence::Unknown, _) | (_, Factor::Unknown) => "unknown".to_owned(),
        (_, Factor::None) => "none".to_owned(),
        (confidence, factor) => format!("{factor} ({confidence})"),
    };
    let title = Line::from(vec![Span::raw(" Suspected limit: "), Span::styled(format!("{name} "), theme.strong)]);
    let evidence = verdict.because.iter().map(|because| Line::from(format!("- {}", printable(because))));
    let advice = verdict.advice.first().map(|advice| Line::styled(format!("> {}", printable(advice)), theme.faint));
    let lines: Vec<_> =
        std::iter::once(Line::from(printable(&verdict.summary))).chain(evidence).chain(advice).collect();
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }).block(block(title, theme)), area);
}
