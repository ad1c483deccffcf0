//! An icicle plot: the tree of stacks from the outermost functions at the top to the innermost, each as wide as its share.

use crate::fields::{flag, list, number, text};
use maud::{Markup, html};
use serde_json::Value;
use torr_report::human::percent;

/// The height of a row in pixels.
const ROW: f64 = 20.0;
/// The most rows that are drawn.
const ROWS: usize = 40;
/// The smallest share that is drawn, and the smallest that has its name written.
const DRAWN: f64 = 0.005;
const NAMED: f64 = 0.03;

/// A function at its position in the plot.
struct Cell<'v> {
    node: &'v Value,
    /// Where it begins and how wide it is, as shares of the whole width.
    from: f64,
    share: f64,
    row: usize,
}

/// Returns the plot of a tree. Its root stands for all samples and is not drawn.
pub fn icicle(root: &Value) -> Markup {
    let cells = cells(root);
    let rows = cells.iter().map(|cell| cell.row + 1).max().unwrap_or(0);
    html! {
        svg.icicle role="img" aria-label="Stacks by their share of the samples" width="100%" height=(format!("{:.0}", rows as f64 * ROW)) {
            @for cell in &cells { (drawn(cell)) }
        }
    }
}

/// Returns the functions of a tree that are wide enough, callers before what they call.
fn cells(root: &Value) -> Vec<Cell<'_>> {
    let whole = weight(root).max(list(root, "calls").iter().map(weight).sum());
    let mut cells = Vec::new();
    if whole <= 0.0 {
        return cells;
    }
    let mut open = vec![(root, 0.0, 0)];
    while let Some((node, mut from, row)) = open.pop() {
        for call in list(node, "calls") {
            let share = weight(call) / whole;
            if share >= DRAWN && from + share <= 1.001 && row < ROWS {
                cells.push(Cell { node: call, from, share, row });
                open.push((call, from, row + 1));
            }
            from += share;
        }
    }
    cells
}

fn weight(node: &Value) -> f64 {
    number(node, "weight").unwrap_or(0.0).max(0.0)
}

fn drawn(Cell { node, from, share, row }: &Cell<'_>) -> Markup {
    let function = text(node, "function").unwrap_or("code without a name");
    let at = match (text(node, "file"), number(node, "line")) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        (Some(file), None) => format!(" ({file})"),
        _ => String::new(),
    };
    let class = if flag(node, "own") { "own" } else { "other" };
    html! {
        // A picture within the picture cuts its text off at its edges.
        svg x=(format!("{:.3}%", from * 100.0)) y=(format!("{:.0}", *row as f64 * ROW)) width=(format!("{:.3}%", share * 100.0))
            height=(format!("{:.0}", ROW - 1.0)) {
            title { (function) (at) ": " (percent(*share)) }
            rect class=(class) width="100%" height="100%" {}
            @if *share >= NAMED { text x="4" y="14" { (function) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_function_is_as_wide_as_its_share_and_below_its_caller() {
        let tree = json!({"weight": 100.0, "calls": [
            {"function": "main", "own": true, "weight": 80.0, "calls": [
                {"function": "render", "own": true, "file": "shop.c", "line": 7, "weight": 60.0},
                {"function": "rare", "own": true, "weight": 0.1},
            ]},
            {"function": "idle", "weight": 20.0},
        ]});
        let cells = cells(&tree);
        let of = |name: &str| {
            cells.iter().find(|cell| cell.node["function"] == name).map(|cell| (cell.from, cell.share, cell.row))
        };
        assert_eq!((of("main"), of("render"), of("rare")), (Some((0.0, 0.8, 0)), Some((0.0, 0.6, 1)), None));
        assert_eq!(of("idle"), Some((0.8, 0.2, 0)));
        let svg = icicle(&tree).into_string();
        assert!(svg.contains("render (shop.c:7): 60%"), "{svg}");
    }

    #[test]
    fn a_tree_that_is_not_one_draws_nothing() {
        let hostile = json!({"weight": -1.0, "calls": [{"function": 7, "weight": "x"}, null]});
        assert!(cells(&hostile).is_empty());
        let mut deep = json!({"function": "f", "weight": 1.0});
        for _ in 0..100 {
            deep = json!({"function": "f", "weight": 1.0, "calls": [deep]});
        }
        assert_eq!(cells(&deep).len(), ROWS);
    }
}
