//! A run as Markdown tables, whose columns also line up on a terminal.

use crate::candidates::FLOOR;
use crate::limits::limits;
use crate::measure::{Measured, Summary};
use crate::rounds::Ratio;
use crate::scenario::{Side, Style};

/// As many scenarios as stand beside each other in a table.
const AT_A_GLANCE: usize = 7;
/// A cell with nothing in it.
pub const NONE: &str = "-";

/// One table at a glance per side, then one per scenario with all that was measured.
pub fn tables(measured: &[Measured]) -> String {
    let mut text = String::new();
    const FLOORED: &str = "CPU time per request, as a multiple of the floor's; pipelined: requests per CPU second.";
    const SERVED: &str = "CPU time of the server per request, as a multiple of the floor's; where the floor cannot do it, in \
                          microseconds, and pipelined in requests per CPU second.";
    const RIVALLED: &str = "Microseconds of CPU time per request, and as a multiple of the rival's; pipelined: requests per CPU \
                            second, in the same way.";
    for (side, title, what) in [
        (Side::Press, "Load generators", FLOORED),
        (Side::Serve, "Servers", SERVED),
        (Side::Transport, "Load generators: TLS, HTTP/2, pipelining, open loop", RIVALLED),
    ] {
        let of_side: Vec<&Measured> = measured.iter().filter(|m| m.scenario.side == side).collect();
        if of_side.is_empty() {
            continue;
        }
        text += &format!("\n## {title}\n\n{what}\n\n");
        text += &of_side.chunks(AT_A_GLANCE).map(glance).collect::<Vec<_>>().join("\n");
        for one in of_side {
            text += &format!("\n### {}\n\n{}", one.scenario, detail(one));
        }
    }
    text
}

/// One row per candidate, one column per scenario; below, what they are to reach.
fn glance(measured: &[&Measured]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for m in measured {
        let all = m.summary.iter().map(|s| s.candidate).chain(m.skipped.iter().map(|s| s.candidate));
        names.extend(all.filter(|name| *name != FLOOR && !names.contains(name)).collect::<Vec<_>>());
    }
    let row = |first: &str, cell: &dyn Fn(&Measured) -> String| {
        std::iter::once(first.to_owned()).chain(measured.iter().map(|m| cell(m))).collect()
    };
    let mut rows: Vec<Vec<String>> = vec![row("", &|m| m.scenario.short())];
    for &name in &names {
        rows.push(row(name, &|m| m.summary.iter().find(|s| s.candidate == name).map_or(NONE.into(), |s| figure(m, s))));
    }
    for name in names {
        let to_reach = |m: &Measured| joined(limits(m.scenario, name).iter().map(|limit| limit.text(m.scenario)));
        if measured.iter().any(|m| to_reach(m) != NONE) {
            rows.push(row(&format!("**{name} is to reach**"), &to_reach));
        }
    }
    table(&rows)
}

/// A candidate's cost, and its ratio to the candidate that it is compared with, if that is not the floor.
fn figure(measured: &Measured, s: &Summary) -> String {
    let pipelined = measured.scenario.style == Style::Pipelined;
    let own = match s.cost_ratio.get(FLOOR) {
        Some(ratio) => format!("{:.2}", ratio.median),
        None if pipelined => format!("{:.2} M/s", 1.0 / s.cpu_us_per_request),
        None => format!("{:.2} us", s.cpu_us_per_request),
    };
    let others = s.limits.iter().map(|judged| judged.limit.against).filter(|against| *against != FLOOR);
    let ratios = others.filter_map(|against| {
        let ratio = s.cost_ratio.get(against)?.median;
        Some(format!("{:.2} x {against}", if pipelined { 1.0 / ratio } else { ratio }))
    });
    match ratios.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => own,
        ratios => format!("{own} ({ratios})"),
    }
}

/// What several figures to reach have to say, in one cell.
fn joined(texts: impl Iterator<Item = String>) -> String {
    match texts.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => NONE.into(),
        text => text,
    }
}

/// One row per candidate, with ranges. A column without a value is left out.
fn detail(measured: &Measured) -> String {
    // All have been compared with the same.
    let others: Vec<&str> = measured.summary.first().map_or(Vec::new(), |s| s.cost_ratio.keys().copied().collect());
    let ratios = others.iter().map(|other| format!("x {other} (range)"));
    let figures = [
        "x whole floor",
        "CPU us/request",
        "requests/CPU s",
        "requests/s",
        "of a CPU",
        "send lag p99 us",
        "failed",
        "to reach",
        "reached",
    ];
    let header: Vec<String> = std::iter::once(String::new()).chain(ratios).chain(figures.map(str::to_owned)).collect();
    let row = |s: &Summary| {
        let ratios = others.iter().map(|other| s.cost_ratio.get(other).map_or(NONE.into(), spread));
        let judged =
            |reached: Option<bool>| reached.map_or(NONE, |reached| if reached { "yes" } else { "no" }).to_owned();
        let figures = [
            s.whole_cost_ratio.map_or(NONE.into(), |ratio| format!("{:.3}", ratio.median)),
            format!("{:.3}", s.cpu_us_per_request),
            format!("{:.0}", 1e6 / s.cpu_us_per_request),
            format!("{:.0}", s.requests_per_s),
            format!("{:.2}", s.cpu_share),
            s.send_lag_p99_us.map_or(NONE.into(), |lag| format!("{lag:.0}")),
            s.failed.to_string(),
            joined(s.limits.iter().map(|l| l.limit.text(measured.scenario))),
            joined(s.limits.iter().map(|l| judged(l.reached))),
        ];
        std::iter::once(s.candidate.to_owned()).chain(ratios).chain(figures).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(measured.summary.iter().map(row)).collect();
    let mut text = if measured.summary.is_empty() { String::new() } else { table(&filled(&rows)) };
    for skipped in &measured.skipped {
        text += &format!("\n{} was skipped: {}\n", skipped.candidate, skipped.reason);
    }
    text
}

/// Returns the table without its empty columns.
pub fn filled(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let has_some = |column: &usize| rows[1..].iter().any(|row| row[*column] != NONE);
    let kept: Vec<usize> = (0..rows[0].len()).filter(has_some).collect();
    rows.iter().map(|row| kept.iter().map(|&i| row[i].clone()).collect()).collect()
}

/// Median and range, as they stand in a cell.
pub fn spread(ratio: &Ratio) -> String {
    format!("{:.3} ({:.3}-{:.3})", ratio.median, ratio.min, ratio.max)
}

/// A Markdown table; the first row is the header, the first column is left-aligned and the others right-aligned.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows[0].len();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &[String]| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells =
            cells.map(|(i, (cell, &width))| if i == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") });
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = |(i, &width): (usize, &usize)| if i == 0 { "-".repeat(width) } else { "-".repeat(width - 1) + ":" };
    let rule: Vec<String> = widths.iter().enumerate().map(rule).collect();
    line(&rows[0]) + &line(&rule) + &rows[1..].iter().map(|row| line(row)).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_line_up() {
        let rows = [["", "a long head"], ["name", "1.00"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "|      | a long head |\n| ---- | ----------: |\n| name |        1.00 |\n");
    }
}
