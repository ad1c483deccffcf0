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
use scope::{LISTENERS, OWN_REPORT, Scope};
use std::collections::BTreeSet;
use torr_session::hurl::ast::Template;

/// The elements and texts of the largest plan that is read.
const MOST_NODES: u32 = 4_000_000;
/// The levels of elements that a plan may have: several times what people nest.
const DEEPEST: usize = 256;

/// Why a fragment is left out.
const FRAGMENT: &str = "it runs only where other elements refer to it";

/// Why an extractor or an assertion is left out.
const OTHER_RESPONSE: &str = "only the main response is supported";
const OTHER_DIALECT: &str = "this expression syntax is not supported";
const HAS_VARIABLE: &str = "an expression with a variable is not supported";
const PATTERN_HAS_VARIABLE: &str = "a pattern with a variable is not supported";
const PATH_HAS_VARIABLE: &str = "a path with a variable is not supported";

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
    let wrong = |error: String| ImportError(format!("not a JMeter plan: {}", one_line(&error)));
    // Without a DTD no entity can grow.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let text = text.trim_start_matches('\u{feff}');
    let document = Document::parse_with_options(text, options).map_err(|error| wrong(error.to_string()))?;
    let root = document.root_element();
    if !root.has_tag_name("jmeterTestPlan") {
        return Err(wrong(format!("the root element is '{}'", root.tag_name().name())));
    }
    if element::is_deeper(root, DEEPEST) {
        return Err(wrong(format!("elements must not be nested deeper than {DEEPEST} levels")));
    }
    let known = argument::definitions(root);
    let names = function::names(text);
    let top = root.children().find(|node| node.has_tag_name("hashTree"));
    let top = top.map(element::of_tree).unwrap_or_default();
    let mut around = Around::default();
    let mut groups = Vec::new();
    for plan in &top {
        if plan.is("TestPlan") { around.read(plan) } else { around.elsewhere(plan, "outside of the test plan") }
    }
    for plan in top.iter().filter(|plan| plan.is("TestPlan")) {
        let elements = plan.children();
        let scope = Scope::default().within(&elements);
        for element in elements.iter().filter(|element| is_group(element) && element.is_enabled()) {
            let mut variables = Variables::of(names.iter().map(String::as_str));
            known.iter().for_each(|(name, value)| variables.know(name, value, false));
            let reader = Reader {
                secrets: variables.secrets(),
                variables,
                draft: Draft { left_out: around.left_out.clone(), ..Draft::default() },
                pending: around.comments.clone(),
                pause: 0,
            };
            match reader.group(element, &elements, &scope) {
                Some(group) => groups.push(group),
                None => around.empty.push(LeftOut::new("thread groups", element.name(), "without an HTTP request")),
            }
        }
    }
    if groups.is_empty() {
        return Err(ImportError(format!("the plan has no enabled thread group with an HTTP request{}", others(root))));
    }
    groups.iter_mut().for_each(|group| group.draft.left_out.extend(around.empty.clone()));
    Ok(groups)
}

/// Says which requests of other protocols a plan has.
fn others(root: roxmltree::Node<'_, '_>) -> String {
    let tags = root.descendants().map(|node| node.tag_name().name());
    let others: BTreeSet<_> =
        tags.filter(|tag| tag.trim_end_matches('2').ends_with("Sampler") && !tag.starts_with("HTTP")).collect();
    let names: Vec<_> = others.into_iter().collect();
    if names.is_empty() { String::new() } else { format!(", only {}", names.join(", ")) }
}

fn is_group(element: &Element<'_, '_>) -> bool {
    element.tag().ends_with("ThreadGroup")
}

/// What a plan has around its thread groups and is left out: each file says so, because it holds for each group.
#[derive(Default)]
struct Around {
    /// Elements, for the comments at the beginning of a file.
    comments: Vec<LeftOut>,
    /// What only the summaries count.
    left_out: Vec<LeftOut>,
    /// Thread groups of which no file is made.
    empty: Vec<LeftOut>,
}

impl Around {
    fn read(&mut self, plan: &Element<'_, '_>) {
        for element in plan.children() {
            match (is_group(&element), element.is_enabled()) {
                (true, true) => {}
                (true, false) => {
                    self.left_out.push(LeftOut::new("disabled thread groups", element.name(), "disabled in the plan"));
                }
                (false, false) => {
                    self.comments.push(LeftOut::new("disabled elements", element.name(), "disabled in the plan"));
                }
                // Each thread group reads these.
                (false, true) if element.is("CSVDataSet") => {}
                (false, true) if element.is("TestFragmentController") => self.comments.push(element.left_out(FRAGMENT)),
                (false, true) => self.elsewhere(&element, "no counterpart"),
            }
        }
    }

    fn elsewhere(&mut self, element: &Element<'_, '_>, reason: &str) {
        if LISTENERS.contains(&element.tag()) {
            self.left_out.push(LeftOut::new("listeners", "", OWN_REPORT));
        } else if !Scope::takes(element) {
            self.comments.push(element.left_out(reason));
        }
    }
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
    /// Reads a thread group. `beside` are the elements of the plan.
    fn group(
        mut self,
        group: &Element<'_, '_>,
        beside: &[Element<'_, '_>],
        scope: &Scope<'_, '_>,
    ) -> Option<ThreadGroup> {
        self.draft.notes.push(load(group));
        let records = beside.iter().filter(|element| element.is("CSVDataSet") && element.is_enabled());
        records.for_each(|records| self.records(records));
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
