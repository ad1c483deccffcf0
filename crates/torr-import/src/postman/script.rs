//! Scripts of a collection: before a request, and with its response.

use crate::draft::{DraftEntry, LeftOut};
use crate::node::Node;
use crate::reader::Reader;
use crate::script::{self, Line, Phase};

/// Returns the name that collections give a phase.
pub(super) fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Before => "prerequest",
        Phase::After => "test",
    }
}

/// Reads a script into an entry.
pub(super) fn read(reader: &mut Reader, phase: Phase, event: &Node, made: &mut DraftEntry) {
    let script = event.get("script");
    let kind = if phase == Phase::Before { "part of a pre-request script" } else { "part of a test script" };
    if event.get("disabled").is_true() || !script.get("src").is_null() {
        made.left_out.push(LeftOut::new(kind, "", "disabled, or in another file"));
        return;
    }
    let text = match script {
        Node::Text(text) => text.clone(),
        _ => match script.get("exec") {
            Node::List(lines) => lines.iter().map(Node::plain).collect::<Vec<_>>().join("\n"),
            other => other.plain(),
        },
    };
    // Apipost has the same functions under a name of its own.
    let line = |line: &str| Line { text: line.to_owned(), statement: line.trim().replace("apt.", "pm.") };
    let lines: Vec<Line> = text.lines().map(line).collect();
    script::read(reader, phase, kind, &lines, made);
}
