//! The walk through a thread group: controllers, and what is neither a controller nor a request.

use super::element::Element;
use super::scope::{LISTENERS, OWN_REPORT, Scope};
use super::{FRAGMENT, Reader};
use crate::draft::LeftOut;
use crate::parts::option;
use torr_session::hurl::ast::{OptionName, OptionValue};

/// The entries that a loop of several requests becomes at most.
const LONGEST_LOOP: u64 = 100;

impl Reader {
    /// Reads the elements below an element.
    pub(super) fn tree(&mut self, above: &Element<'_, '_>, scope: &Scope<'_, '_>) {
        let elements = above.children();
        let scope = scope.within(&elements);
        for element in &elements {
            if !element.is_enabled() {
                self.pending.push(LeftOut::new("disabled elements", element.name(), "disabled in the plan"));
            } else {
                self.element(element, &scope);
            }
        }
    }

    fn element(&mut self, element: &Element<'_, '_>, scope: &Scope<'_, '_>) {
        let tag = element.tag();
        let said = |reason: &str, which: String| LeftOut::new(tag, format!("'{}'{which}", element.name()), reason);
        match tag {
            "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" => self.sampler(element, scope),
            "GenericController" | "TransactionController" | "RecordingController" | "CriticalSectionController" => {
                self.tree(element, scope);
            }
            "LoopController" => self.repeated(element, scope),
            "OnceOnlyController" => {
                self.pending.push(said("its requests run in each session", String::new()));
                self.tree(element, scope);
            }
            "IfController" => {
                let condition = format!(": {}", element.text("IfController.condition"));
                self.pending.push(said("its requests always run", condition));
                self.tree(element, scope);
            }
            "WhileController" => {
                let condition = format!(": {}", element.text("WhileController.condition"));
                self.pending.push(said("its requests run once", condition));
                self.tree(element, scope);
            }
            "ForeachController" => {
                let input = format!(": {}", element.text("ForeachController.inputVal"));
                self.pending.push(said("its requests run once", input));
                self.tree(element, scope);
            }
            "ModuleController" | "IncludeController" => {
                self.pending.push(said("the referenced elements are not imported", String::new()));
            }
            "TestFragmentController" => self.pending.push(said(FRAGMENT, String::new())),
            "TestAction" => self.action(element),
            "CSVDataSet" => self.records(element),
            tag if LISTENERS.contains(&tag) => {
                self.draft.left_out.push(LeftOut::new("listeners", "", OWN_REPORT));
            }
            _ if Scope::takes(element) => {}
            tag if tag.ends_with("Controller") || tag.ends_with("Control") => {
                self.pending.push(said("its requests always run, in order", String::new()));
                self.tree(element, scope);
            }
            _ => {
                self.pending.push(said("no counterpart", String::new()));
                // What stands below an unknown element may be requests.
                self.tree(element, scope);
            }
        }
    }

    /// Reads a loop: one request is repeated, several are written several times.
    fn repeated(&mut self, element: &Element<'_, '_>, scope: &Scope<'_, '_>) {
        let before = self.draft.entries.len();
        self.tree(element, scope);
        let text = element.text("LoopController.loops");
        let added = (self.draft.entries.len() - before) as u64;
        let count = match text.trim().parse::<u64>() {
            Ok(count) if count > 0 && added > 0 => count,
            _ if added == 0 => return,
            _ => return self.say_at(before, element, &format!("{text} times: its requests run once")),
        };
        if added == 1 {
            let options = &mut self.draft.entries[before].entry.request.options;
            let known = options.iter_mut().find(|option| option.name == OptionName::Repeat);
            match known.map(|option| &mut option.value) {
                Some(OptionValue::Count(Some(times))) => *times = times.saturating_mul(count),
                _ if count > 1 => options.push(option(OptionName::Repeat, OptionValue::Count(Some(count)))),
                _ => {}
            }
        } else if added.saturating_mul(count) <= LONGEST_LOOP {
            let mut round = self.draft.entries[before..].to_vec();
            for draft in &mut round {
                draft.left_out.clear();
            }
            for _ in 1..count {
                self.draft.entries.extend(round.iter().cloned());
            }
        } else {
            self.say_at(
                before,
                element,
                &format!("{text} times: its requests run once, since a file of them all is too long"),
            );
        }
    }

    fn say_at(&mut self, entry: usize, element: &Element<'_, '_>, reason: &str) {
        let left_out = element.left_out(reason);
        match self.draft.entries.get_mut(entry) {
            Some(draft) => draft.left_out.insert(0, left_out),
            None => self.pending.push(left_out),
        }
    }

    /// Reads a flow control action: a pause, or something that ends threads.
    fn action(&mut self, element: &Element<'_, '_>) {
        let is_pause = matches!(element.value("ActionProcessor.action").as_deref(), None | Some("1"));
        match element.number("ActionProcessor.duration").filter(|_| is_pause) {
            Some(pause) => self.pause = self.pause.saturating_add(pause.clamp(0.0, 1e12) as u64),
            None => self.pending.push(element.left_out("no counterpart")),
        }
    }

    /// Says what a file of records gives, and how a run takes them.
    pub(super) fn records(&mut self, element: &Element<'_, '_>) {
        let file = element.text("filename");
        let names = element.value("variableNames").unwrap_or_else(|| "the names in its first line".to_owned());
        for name in names.split(',').map(str::trim).filter(|name| !name.contains(' ')) {
            self.variables.assign(name);
        }
        let reason = "use --feeder: one record per session";
        self.pending.push(LeftOut::new("CSVDataSet", format!("'{}': {file} provides {names}", element.name()), reason));
        let note = format!("records: '{file}' provides {names}: use --feeder, with these names in its first line");
        self.draft.notes.push(note);
    }
}
