//! The screen of a procedure: what runs now, its figures over time, and all steps so far.

use super::boxes::block;
use super::head;
use super::plots::{self, Plots};
use crate::procedure::{Procedure, Step};
use crate::theme::Theme;
use crate::words;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use torr_report::human::{count, cut, printable, rate};

/// The columns of a number, a moment, a rate, a time, and a count of errors.
const COLUMNS: [u16; 5] = [4, 7, 12, 10, 8];
/// The least rows of the plots.
const PLOTS: u16 = 6;

/// Draws the screen.
pub fn draw(frame: &mut Frame<'_>, area: Rect, procedure: &Procedure, theme: &Theme) {
    let spare = area.height.saturating_sub(2 + 2 + 1);
    let list = (spare / 2).max(spare.saturating_sub(24)).min(spare.saturating_sub(PLOTS));
    let [head, plots, now, steps, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(3),
        Constraint::Length(2),
        Constraint::Length(list),
        Constraint::Length(1),
    ])
    .areas(area);
    let about = &procedure.about;
    let state = if procedure.is_ending { theme.warn } else { theme.good };
    let right = [Line::styled(procedure.time(), theme.strong), Line::styled(procedure.state(), state)];
    head::draw_lines(frame, head, (&about.target, about.words.clone()), right, theme);
    let series = procedure.series();
    let time = |share| procedure.last().and_then(|last| last.latency.quantile(share));
    let shown = Plots {
        series: &series,
        newest: procedure.last().map(|last| (last.per_s, time(0.5), time(0.99))),
        is_of_streams: false,
        counted: "responses",
        // They would be too many lines.
        marks: Vec::new(),
    };
    plots::draw_all(frame, plots, shown, theme);
    frame.render_widget(Paragraph::new(current(procedure, area.width, theme)), now);
    list_of_steps(frame, steps, procedure, theme);
    let keys = [(" q ", "end with what is known  "), (" Ctrl-L ", "redraw  ")];
    let mut keys: Vec<_> = keys
        .into_iter()
        .flat_map(|(key, does)| [Span::styled(key, theme.strong), Span::styled(does, theme.faint)])
        .collect();
    keys.extend(procedure.note.as_ref().map(|note| Span::raw(printable(note).into_owned())));
    frame.render_widget(Paragraph::new(Line::from(keys)), foot);
}

/// Returns two lines about the step that runs: its name, and the question that it is to decide.
fn current(procedure: &Procedure, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let Some(step) = procedure.steps().last() else { return Vec::new() };
    let text = |text: &str| cut(&printable(text), usize::from(width));
    vec![Line::styled(text(&step.name), theme.strong), Line::styled(text(&step.why), theme.faint)]
}

fn list_of_steps(frame: &mut Frame<'_>, area: Rect, procedure: &Procedure, theme: &Theme) {
    let block = block(format!(" {}s ", words::capitalised(procedure.about.step)), theme);
    let room = usize::from(block.inner(area).height).saturating_sub(1);
    let right = |text: String| Cell::from(Line::from(text).right_aligned());
    let row = |(number, step): (usize, &Step)| {
        let per_s = if step.requests > 0 { format!("{}/s", rate(step.per_s())) } else { words::NONE.to_owned() };
        let errors = right(count(step.errors)).style(if step.errors > 0 { theme.bad } else { theme.faint });
        let name = Cell::from(printable(&step.name).into_owned());
        let time = words::response_time(step.latency.quantile(0.99));
        Row::new([
            right(number.to_string()),
            right(words::clock(step.begun_s)),
            name,
            right(per_s),
            right(time),
            errors,
        ])
    };
    let rows: Vec<_> = procedure.numbered().rev().take(room).collect();
    let [number, at, per_s, time, errors] = COLUMNS.map(Constraint::Length);
    let header = ["no.", "at"].map(|name| right(name.to_owned())).into_iter();
    let header = header.chain([Cell::from(procedure.about.step)]);
    let header = header.chain(["throughput", "p99", "errors"].map(|name| right(name.to_owned())));
    let table = Table::new(rows.into_iter().map(row), [number, at, Constraint::Fill(1), per_s, time, errors])
        .header(Row::new(header).style(theme.faint))
        .block(block);
    frame.render_widget(table, area);
}
