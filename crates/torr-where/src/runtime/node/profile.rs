//! V8's CPU profile: a tree of functions, how often each was seen, and at which lines.

use super::super::reading::Reading;
use crate::stack::{FRAMES, Frame, Stack, StackSample, WaitKind};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;

/// A profile as the inspector returns it.
#[derive(Debug, Deserialize)]
pub struct Profile {
    nodes: Vec<Node>,
    /// The node of each sample, in the order of time.
    #[serde(default)]
    samples: Vec<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    id: u64,
    call_frame: CallFrame,
    #[serde(default)]
    children: Vec<u64>,
    #[serde(default)]
    position_ticks: Vec<Ticks>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    function_name: String,
    url: String,
    /// The line at which the function begins, counted from 0, or -1.
    line_number: i64,
}

#[derive(Debug, Deserialize)]
struct Ticks {
    /// Counted from 1.
    line: u32,
    ticks: u32,
}

/// The most samples of each kind: at the reader's rate, those of some minutes.
const MOST: usize = 100_000;

impl Profile {
    /// Returns the profile of a process as samples of its thread.
    ///
    /// A function that calls another one has the line at which it begins: the profile has lines of leaves only.
    pub fn reading(&self, process: i32) -> Reading {
        let by_id: HashMap<u64, &Node> = self.nodes.iter().map(|node| (node.id, node)).collect();
        let parents: HashMap<u64, u64> =
            self.nodes.iter().flat_map(|node| node.children.iter().map(|child| (*child, node.id))).collect();
        let frames: HashMap<u64, Arc<Frame>> =
            self.nodes.iter().map(|node| (node.id, Arc::new(node.call_frame.frame()))).collect();
        let callers = |id: u64| {
            let mut stack = vec![];
            let mut at = id;
            while let Some(parent) = parents.get(&at).filter(|_| stack.len() < FRAMES) {
                at = *parent;
                stack.extend(frames.get(&at).filter(|frame| frame.function != ROOT).cloned());
            }
            stack
        };
        let sample = |wait: Option<WaitKind>, stack| StackSample {
            process,
            thread: process as u64,
            on_cpu: wait.is_none(),
            wait,
            holds: vec![],
            stack: Stack(stack),
            weight: 1.0,
        };
        let stack = |node: &Node, line: Option<u32>| {
            let function = node.call_frame.frame();
            let is_before = line.zip(function.line).is_some_and(|(line, begin)| line < begin);
            // A line before the function is one of another function that V8 has inlined into it, whose name the profile does not have.
            let leaves = match is_before {
                true => vec![function.inlined(line), function],
                false => vec![Frame { line, ..function }],
            };
            with_owners(leaves.into_iter().map(Arc::new).chain(callers(node.id)).collect())
        };
        let mut reading = Reading::default();
        for node in self.nodes.iter().filter(|node| !node.call_frame.is_idle() && node.call_frame.function_name != ROOT)
        {
            for position in &node.position_ticks {
                let line = Some(position.line).filter(|line| *line > 0);
                let one = sample(None, stack(node, line));
                let left = MOST.saturating_sub(reading.cpu.len());
                reading.cpu.extend(std::iter::repeat_n(one, left.min(position.ticks as usize)));
            }
        }
        // Functions of the engine have no lines.
        let seen = |id: &&u64| by_id.get(*id).is_some_and(|node| node.position_ticks.is_empty());
        for node in self.samples.iter().take(MOST).filter(seen).filter_map(|id| by_id.get(id)) {
            if !node.call_frame.is_idle() && node.call_frame.function_name != ROOT {
                reading.cpu.push(sample(None, stack(node, None)));
            }
        }
        for node in self.samples.iter().take(MOST).filter_map(|id| by_id.get(id)) {
            let line = node.position_ticks.iter().max_by_key(|position| position.ticks).map(|position| position.line);
            let wait = node.call_frame.is_idle().then_some(WaitKind::Idle);
            reading.rounds.push(vec![sample(wait, stack(node, line))]);
        }
        reading
    }
}

/// Gives functions without a name, such as the comparator of a sort, to the function that they are written in: the one that calls them,
/// directly or by a function of the engine, begins above them in the same file. The stack has it once then.
fn with_owners(mut stack: Vec<Arc<Frame>>) -> Vec<Arc<Frame>> {
    let mut at = 0;
    while at < stack.len() {
        let inner = Arc::clone(&stack[at]);
        let owner = stack[at + 1..].iter().position(|frame| frame.file.is_some()).map(|between| at + 1 + between);
        let owner = owner.filter(|&owner| {
            let owner = &stack[owner];
            inner.is_own && inner.function == ANONYMOUS && owner.file == inner.file && owner.line <= inner.line
        });
        match owner {
            // It may have no name itself, and be in a third one.
            Some(owner) => {
                stack[at] = Arc::new(Frame { line: inner.line, ..Frame::clone(&stack[owner]) });
                stack.drain(at + 1..=owner);
            }
            None => at += 1,
        }
    }
    stack
}

/// The name of functions that have none.
const ANONYMOUS: &str = "(anonymous)";
/// The name of the tree's root.
const ROOT: &str = "(root)";

impl CallFrame {
    /// Returns whether the thread waits for events.
    fn is_idle(&self) -> bool {
        self.function_name == "(idle)"
    }

    fn frame(&self) -> Frame {
        let file = self.url.strip_prefix("file://").unwrap_or(&self.url);
        let name = if self.function_name.is_empty() { ANONYMOUS } else { &self.function_name };
        Frame {
            function: name.to_owned(),
            file: (!file.is_empty()).then(|| file.to_owned()),
            line: u32::try_from(self.line_number.saturating_add(1)).ok().filter(|line| *line > 0),
            object: file.to_owned(),
            module: module(file),
            is_own: is_own(file),
            is_named: true,
        }
    }
}

impl Frame {
    /// Returns the frame of a function without a name that is inlined into this one.
    fn inlined(&self, line: Option<u32>) -> Self {
        Self { function: "(inlined)".to_owned(), line, is_named: false, ..self.clone() }
    }
}

/// The folder of installed packages.
const PACKAGES: &str = "/node_modules/";

/// Returns whether a file is the user's own: neither node's nor of an installed package.
fn is_own(file: &str) -> bool {
    let is_file = file.starts_with('/') || file.starts_with("webpack");
    is_file && !file.contains(PACKAGES)
}

/// Returns the package of a file, or of own code the file's name.
fn module(file: &str) -> String {
    let Some((_, path)) = file.rsplit_once(PACKAGES) else {
        return file.rsplit('/').next().unwrap_or(file).to_owned();
    };
    // A package with a scope has two folders.
    let folders = if path.starts_with('@') { 2 } else { 1 };
    path.split('/').take(folders).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_without_a_name_belongs_to_the_one_around_it() {
        let frame = |(function, file, line): &(&str, Option<&str>, u32)| {
            let file = file.map(str::to_owned);
            let is_own = file.is_some();
            Arc::new(Frame { function: (*function).to_owned(), file, line: Some(*line), is_own, ..Frame::default() })
        };
        let named = |stack: &[(&str, Option<&str>, u32)]| {
            let stack = with_owners(stack.iter().map(frame).collect());
            stack.iter().map(|frame| (frame.function.clone(), frame.line.unwrap_or_default())).collect::<Vec<_>>()
        };
        let (own, other) = (Some("/srv/app.js"), Some("/srv/other.js"));
        let sorted = named(&[(ANONYMOUS, own, 56), ("sort", None, 0), ("bySales", own, 54), (ANONYMOUS, own, 120)]);
        assert_eq!(sorted, [("bySales".to_owned(), 56), (ANONYMOUS.to_owned(), 120)]);
        let nested = named(&[(ANONYMOUS, own, 58), (ANONYMOUS, own, 57), ("page", own, 50)]);
        assert_eq!(nested, [("page".to_owned(), 58)]);
        // A handler that a function of another file, or one below it, calls is not written in that function.
        for caller in [("route", other, 3), ("main", own, 130)] {
            assert_eq!(named(&[(ANONYMOUS, own, 120), caller]).len(), 2, "{caller:?}");
        }
    }

    #[test]
    fn a_profile_is_samples_with_lines() {
        let profile: Profile = serde_json::from_str(
            r#"{"nodes": [
                {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1}, "children": [2, 3, 4]},
                {"id": 2, "callFrame": {"functionName": "(idle)", "url": "", "lineNumber": -1}},
                {"id": 3, "callFrame": {"functionName": "handle", "url": "file:///srv/app.mjs", "lineNumber": 9}, "children": [5]},
                {"id": 4, "callFrame": {"functionName": "(garbage collector)", "url": "", "lineNumber": -1}},
                {"id": 5, "callFrame": {"functionName": "hot", "url": "file:///srv/app.mjs", "lineNumber": 4},
                 "positionTicks": [{"line": 6, "ticks": 2}, {"line": 7, "ticks": 1}, {"line": 3, "ticks": 1}]}
               ], "samples": [2, 5, 5, 4, 5, 2]}"#,
        )
        .expect("it is a profile");
        let reading = profile.reading(7);
        assert_eq!((reading.cpu.len(), reading.rounds.len()), (5, 6));
        let facts: Vec<_> =
            reading.cpu.iter().map(|sample| (sample.stack.0[0].function.as_str(), sample.stack.0[0].line)).collect();
        assert_eq!(
            facts,
            [
                ("hot", Some(6)),
                ("hot", Some(6)),
                ("hot", Some(7)),
                ("(inlined)", Some(3)),
                ("(garbage collector)", None)
            ]
        );
        let caller = &reading.cpu[0].stack.0[1];
        assert_eq!(
            (caller.function.as_str(), caller.line, caller.file.as_deref()),
            ("handle", Some(10), Some("/srv/app.mjs"))
        );
        assert_eq!(reading.cpu[0].stack.0.len(), 2);
        let inlined = &reading.cpu[3].stack.0;
        let facts: Vec<_> = inlined.iter().map(|frame| (frame.function.as_str(), frame.line, frame.is_named)).collect();
        assert_eq!(facts[..2], [("(inlined)", Some(3), false), ("hot", Some(5), true)]);
        assert_eq!(reading.rounds[0][0].wait, Some(WaitKind::Idle));
        assert!(reading.rounds[1][0].on_cpu && reading.rounds[1][0].stack.0[0].line == Some(6));
    }

    #[test]
    fn a_profile_has_no_more_samples_than_are_kept() {
        let line = r#"{"line": 6, "ticks": 4000000000}"#;
        let profile = format!(
            r#"{{"nodes": [{{"id": 1, "callFrame": {{"functionName": "f", "url": "", "lineNumber": {}}},
                "positionTicks": [{line}, {line}, {line}]}}], "samples": [{}]}}"#,
            i64::MAX,
            vec!["1"; MOST + 1].join(",")
        );
        let reading = serde_json::from_str::<Profile>(&profile).expect("it is a profile").reading(7);
        assert_eq!((reading.cpu.len(), reading.rounds.len()), (MOST, MOST));
    }

    #[test]
    fn own_code_is_outside_of_packages() {
        assert!(is_own("/srv/app/orders.js"));
        assert!(
            !is_own("/srv/app/node_modules/express/lib/router.js") && !is_own("node:internal/timers") && !is_own("")
        );
        assert_eq!(module("/srv/node_modules/@nestjs/core/x.js"), "@nestjs/core");
        assert_eq!(module("/srv/node_modules/a/node_modules/express/lib/x.js"), "express");
        assert_eq!(module("/srv/app/orders.js"), "orders.js");
    }
}
