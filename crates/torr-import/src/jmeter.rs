//! Test plans of JMeter 5 (`.jmx`): one hurl file for each thread group.

mod argument;
mod assertion;
mod controller;
mod element;
mod extractor;
mod function;
mod sampler;
mod scope;

use crate::draft::{Draft, ImportError, LeftOut};
use crate::line::one_line;
use crate::node::check_size;
use crate::secret::Secrets;
use crate::variables::Variables;
use element::Element;
use roxmltree::{Document, ParsingOptions};
use scope::Scope;
use torr_session::hurl::ast::Template;

/// The elements and texts of the largest plan that is read.
const MOST_NODES: u32 = 4_000_000;
/// The levels of elements that a plan may have: several times what people nest.
const DEEPEST: usize = 256;

/// A thread group, as a hurl file.
#[derive(Debug, Clone)]
pub struct ThreadGroup {
    /// The group's name in the plan.
    pub name: String,
    /// The file.
    pub draft: Draft,
}

/// Imports a plan: its thread groups that have requests, in order.
///
/// # Errors
/// If the text is no plan, too large or too deep, or if no thread group has a request.
pub fn import(text: &str) -> Result<Vec<ThreadGroup>, ImportError> {
    check_size(text, "plan")?;
    let wrong = |error: String| ImportError(format!("this is no JMeter plan: {}", one_line(&error)));
    // Without a DTD no entity can grow.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let text = text.trim_start_matches('\u{feff}');
    let document = Document::parse_with_options(text, options).map_err(|error| wrong(error.to_string()))?;
    let root = document.root_element();
    if !root.has_tag_name("jmeterTestPlan") {
        return Err(wrong(format!("its root element is '{}'", root.tag_name().name())));
    }
    if element::is_deeper(root, DEEPEST) {
        return Err(wrong(format!("its elements are nested deeper than {DEEPEST} levels")));
    }
    let known = argument::definitions(root);
    let names = function::names(text);
    let top = root.children().find(|node| node.has_tag_name("hashTree"));
    let (mut groups, mut left_out) = (Vec::new(), Vec::new());
    for plan in top.map(element::of_tree).unwrap_or_default() {
        if !plan.is("TestPlan") {
            left_out.push(plan.left_out("it stands outside of the test plan"));
            continue;
        }
        let elements = plan.children();
        let scope = Scope::default().within(&elements);
        for element in &elements {
            if !element.tag().ends_with("ThreadGroup") {
                if !element.is_enabled() {
                    left_out.push(LeftOut::new("disabled elements", element.name(), "disabled in the plan"));
                } else if !Scope::takes(element) {
                    left_out.push(element.left_out("it stands outside of a thread group"));
                }
                continue;
            }
            if !element.is_enabled() {
                left_out.push(LeftOut::new("disabled thread groups", element.name(), "disabled in the plan"));
                continue;
            }
            let mut variables = Variables::of(names.iter().map(String::as_str));
            known.iter().for_each(|(name, value)| variables.know(name, value, false));
            let reader = Reader {
                secrets: variables.secrets(),
                variables,
                draft: Draft::default(),
                pending: Vec::new(),
                pause: 0,
            };
            match reader.group(element, &scope) {
                Some(group) => groups.push(group),
                None => left_out.push(LeftOut::new("thread groups", element.name(), "without an HTTP request")),
            }
        }
    }
    match groups.first_mut() {
        Some(first) => first.draft.left_out.extend(left_out),
        None => return Err(ImportError("the plan has no enabled thread group with an HTTP request".to_owned())),
    }
    Ok(groups)
}

/// Reads a thread group.
struct Reader {
    variables: Variables,
    secrets: Secrets,
    draft: Draft,
    /// What was left out since the last request, for the comments above the next one.
    pending: Vec<LeftOut>,
    /// The pause that the plan makes before the next request, in milliseconds.
    pause: u64,
}

impl Reader {
    fn group(mut self, group: &Element<'_, '_>, scope: &Scope<'_, '_>) -> Option<ThreadGroup> {
        self.draft.notes.push(load(group));
        self.tree(group, scope);
        if self.draft.entries.is_empty() {
            return None;
        }
        self.draft.left_out_behind.append(&mut self.pending);
        self.variables.finish(&mut self.draft);
        self.draft.secrets = self.secrets.finish();
        Some(ThreadGroup { name: group.name().to_owned(), draft: self.draft })
    }

    /// Returns a template of text with `${name}` and functions; what has no counterpart is said above the next request.
    fn template(&mut self, text: &str) -> Template {
        function::template(&mut self.variables, &mut self.secrets, text, &mut self.pending)
    }
}

/// Says the load that a thread group makes, which flags of a run repeat.
fn load(group: &Element<'_, '_>) -> String {
    let kind = match group.tag() {
        "SetupThreadGroup" => "set-up thread group",
        "PostThreadGroup" => "tear-down thread group",
        _ => "thread group",
    };
    let mut words = vec![format!("{kind} '{}'", one_line(group.name()))];
    let loops =
        group.inner("ThreadGroup.main_controller").and_then(|controller| controller.value("LoopController.loops"));
    for (value, text) in [
        (group.value("ThreadGroup.num_threads"), "threads (-c)"),
        (group.value("ThreadGroup.ramp_time"), "s ramp-up"),
        (group.value("ThreadGroup.duration").filter(|_| group.is_true("ThreadGroup.scheduler")), "s duration (-d)"),
        (loops.filter(|loops| loops != "-1"), "loops"),
    ] {
        words.extend(value.map(|value| format!("{value} {text}")));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests;
