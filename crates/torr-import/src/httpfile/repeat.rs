//! Requests that a comment `# @loop` sends several times.

use super::block::{Block, Definition};
use super::files::Files;
use super::text;
use crate::draft::LeftOut;
use crate::pattern::pattern;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// The most requests that a loop becomes.
const MOST: usize = 100;

static COUNT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^for\s*(\d+)$"));
static OF: LazyLock<Regex> = LazyLock::new(|| pattern(r"^for\s+([A-Za-z_]\w*)\s+of\s+(\[.*\])$"));

/// Returns the requests of a block: one for each turn of its loop.
pub(super) fn turns(block: &Block, files: &Files<'_>) -> Vec<Block> {
    let Some(value) = block.directive("loop") else { return vec![block.clone()] };
    let has_room = |count: &usize| *count <= MOST && files.take(block.size().saturating_mul(*count));
    if let Some(count) = COUNT.captures(value).and_then(|found| found[1].parse().ok()).filter(has_room) {
        return (0..count).map(|at| with_index(block, at)).collect();
    }
    let items = OF.captures(value).and_then(|found| Some((found[1].to_owned(), items(&found[2])?)));
    match items.filter(|(_, items)| has_room(&items.len())) {
        Some((name, items)) => {
            let turn = |(at, value): (usize, String)| {
                let mut turn = with_index(block, at);
                turn.definitions.push(Definition { name: name.clone(), value, is_lazy: false });
                turn
            };
            items.into_iter().enumerate().map(turn).collect()
        }
        None => {
            let mut once = with_index(block, 0);
            once.left_out.push(LeftOut::new("@loop", value, "the request is sent once"));
            vec![once]
        }
    }
}

fn with_index(block: &Block, at: usize) -> Block {
    block.rewritten(|text| text::with_value(text, "$index", &at.to_string()))
}

/// Returns the values of a list of texts and numbers.
fn items(list: &str) -> Option<Vec<String>> {
    let list = if list.contains('"') { list.to_owned() } else { list.replace('\'', "\"") };
    let values: Vec<Value> = serde_json::from_str(&list).ok()?;
    let item = |value: Value| match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(boolean) => Some(boolean.to_string()),
        _ => None,
    };
    values.into_iter().map(item).collect()
}
