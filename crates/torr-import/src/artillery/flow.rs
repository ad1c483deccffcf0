//! The steps of a flow: pauses, loops, functions and requests.

use super::payload::Kind;
use super::reader::{Captured, Found, Reader};
use super::text;
use super::{request, value};
use crate::draft::LeftOut;
use crate::javascript;
use crate::node::Node;
use crate::parts::option;
use crate::reason::FUNCTION;
use torr_session::hurl::ast::{Expression, OptionName, OptionValue, Piece};

/// The entries that a loop becomes at most.
const LONGEST_LOOP: usize = 100;
/// The steps that are read of one flow: loops within loops multiply.
const MOST_STEPS: usize = 50_000;
/// The longest pause, in milliseconds: a year.
const LONGEST_PAUSE: f64 = 365.0 * 86_400_000.0;

/// Hooks, whose functions are in JavaScript.
pub(super) const HOOKS: &[&str] = &["beforeRequest", "afterResponse", "beforeScenario", "afterScenario", "onError"];

impl Reader<'_> {
    /// Reads the steps of a flow.
    pub(super) fn flow(&mut self, steps: &[Node]) {
        for step in steps {
            match step {
                Node::List(inner) => self.flow(inner),
                step => self.step(step),
            }
        }
    }

    /// Says which hooks a scenario or a request has.
    pub(super) fn hooks(&mut self, of: &Node) {
        for hook in HOOKS {
            let names = of.get(hook);
            let all = if names.text().is_some() { std::slice::from_ref(names) } else { names.items() };
            all.iter().for_each(|name| self.leave_out(*hook, name.plain(), FUNCTION));
        }
    }

    fn step(&mut self, step: &Node) {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.is_full() {
            return self.leave_out_once([LeftOut::new("steps", "", "loops and values make more than a file can have")]);
        }
        let get = |name: &str| step.get(name);
        if !get("loop").is_null() {
            return self.repeated(step);
        }
        if !get("parallel").is_null() {
            self.leave_out("parallel", "", "its requests run one after the other");
            return self.flow(get("parallel").items());
        }
        if !get("think").is_null() {
            return self.think(step);
        }
        if !get("log").is_null() {
            return self.leave_out("log", get("log").plain(), "hurl files print nothing");
        }
        if !get("function").is_null() {
            return self.leave_out("function", get("function").plain(), FUNCTION);
        }
        match step.members().first() {
            Some((method, params)) if !params.get("url").is_null() || !params.get("uri").is_null() => {
                request::add(self, method, params);
            }
            Some((name, _)) => self.leave_out("step", name.as_str(), "not an HTTP request"),
            None => self.leave_out("step", step.plain(), "not an HTTP request"),
        }
    }

    fn think(&mut self, step: &Node) {
        let spec = step.get("think");
        let known = match spec {
            Node::Text(text) => match text::whole(text) {
                Some(name) => self.known(name),
                None if text::has_names(text) => None,
                None => Some(spec.clone()),
            },
            other => Some(other.clone()),
        };
        let pause = known.as_ref().and_then(|known| match value::as_number(known) {
            // Artillery takes whole numbers only as seconds.
            Some(number) if number.fract() == 0.0 => Some(number * 1000.0),
            // A timer of node takes its shortest time for what is no number.
            Some(_) if matches!(known, Node::Number(_)) => Some(1.0),
            _ => value::milliseconds(&javascript::in_text(known)),
        });
        let Some(pause) = pause else {
            return self.leave_out("think", spec.plain(), "a time that is not known: add a delay");
        };
        if matches!(known, Some(Node::Number(_))) && pause == 1.0 {
            self.leave_out("think", spec.plain(), "Artillery pauses for 1 ms: write a fraction of a second in ms");
        }
        let jitter = [step.get("jitter"), self.config.defaults("think").get("jitter")];
        if jitter.iter().any(|jitter| !jitter.is_null()) && pause > 0.0 {
            self.leave_out_once([LeftOut::new("jitter", "", "replaced by the mean pause")]);
        }
        self.pause = self.pause.saturating_add(pause.clamp(0.0, LONGEST_PAUSE) as u64);
    }

    /// Reads a loop: one request without the loop's values is repeated, everything else is written out.
    fn repeated(&mut self, step: &Node) {
        let names = ["loopValue", "loopElement"].map(|name| match step.get(name).text() {
            Some(own) => own.to_owned(),
            None => format!("${}", if name == "loopValue" { "loopCount" } else { name }),
        });
        let [count_name, element_name] = &names;
        let steps = step.get("loop").items();
        if !step.get("whileTrue").is_null() {
            self.leave_out("loop", format!("whileTrue {}", step.get("whileTrue").plain()), "its requests run once");
            return self.turn(steps, [(count_name, 0.into()), (element_name, 0.into())]);
        }
        let over = step.get("over");
        let over = match over.text() {
            Some(name) => match self.known(name) {
                Some(known) => known,
                None => return self.over_response(name, steps, &names),
            },
            None => over.clone(),
        };
        if let Node::List(elements) = &over {
            // A range moves the first index of a list as well.
            let from = self.range(step.get("count")).map_or(0, |(from, _)| from);
            let elements = elements.get(from..).unwrap_or_default();
            let is_too_long = steps.len().saturating_mul(elements.len()) > LONGEST_LOOP;
            if is_too_long {
                let shown = format!("over {} values", elements.len());
                self.leave_out("loop", shown, "its requests run for the first, since a file of them all is too long");
            }
            let turns = if is_too_long { 1 } else { elements.len() };
            for (at, element) in elements.iter().take(turns).enumerate() {
                self.turn(steps, [(count_name, (from + at).into()), (element_name, element.clone())]);
            }
            return;
        }
        if !over.is_null() {
            return self.leave_out("loop", "over", "no list: Artillery sends nothing");
        }
        self.counted(step, steps, &names);
    }

    fn counted(&mut self, step: &Node, steps: &[Node], names: &[String; 2]) {
        let [count_name, element_name] = names;
        let count = step.get("count");
        let (before, pending) = (self.draft.entries.len(), self.pending.len());
        let dynamic = count.text().filter(|text| text::has_names(text)).map(str::to_owned);
        let range = self.range(count);
        let (from, to) = range.unwrap_or((0, 1));
        if range.is_some() && to <= from {
            return self.leave_out("loop", count.plain(), "Artillery sends nothing");
        }
        self.turn(steps, [(count_name, from.into()), (element_name, from.into())]);
        let added = self.draft.entries.len() - before;
        let times = to - from;
        let is_one = added == 1 && self.pending.len() == pending && self.pause == 0 && !uses(steps, names);
        if range.is_none() {
            let of = dynamic.filter(|_| is_one).and_then(|text| self.expression(&text));
            return match (of, self.draft.entries.get_mut(before)) {
                (Some(times), Some(draft)) => {
                    draft.entry.request.options.push(option(OptionName::Repeat, OptionValue::Placeholder(times)));
                }
                (_, first) => {
                    let shown =
                        if count.is_null() { "without end".to_owned() } else { format!("{} times", count.plain()) };
                    let said = LeftOut::new("loop", shown, "its requests run once");
                    match first {
                        Some(draft) => draft.left_out.insert(0, said),
                        None => self.pending.push(said),
                    }
                }
            };
        }
        if times == 1 || added == 0 {
            return;
        }
        if let (true, Some(draft)) = (is_one, self.draft.entries.get_mut(before)) {
            let options = &mut draft.entry.request.options;
            match options.iter_mut().find(|option| option.name == OptionName::Repeat).map(|option| &mut option.value) {
                Some(OptionValue::Count(Some(known))) => *known = known.saturating_mul(times as u64),
                _ => options.push(option(OptionName::Repeat, OptionValue::Count(Some(times as u64)))),
            }
            return;
        }
        if added.saturating_mul(times) > LONGEST_LOOP {
            let said = "its requests run once, since a file of them all is too long";
            let said = LeftOut::new("loop", format!("{times} times"), said);
            if let Some(draft) = self.draft.entries.get_mut(before) {
                draft.left_out.insert(0, said);
            }
            return;
        }
        for at in from + 1..to {
            self.turn(steps, [(count_name, at.into()), (element_name, from.into())]);
        }
    }

    /// Reads the steps of a loop once, with the values of its names.
    fn turn(&mut self, steps: &[Node], values: [(&String, Node); 2]) {
        let outside = self.constants.len();
        self.constants.extend(values.map(|(name, value)| (name.clone(), value)));
        self.flow(steps);
        self.constants.truncate(outside);
    }

    /// Reads a loop over a list that a response gives: for its first element.
    fn over_response(&mut self, name: &str, steps: &[Node], names: &[String; 2]) {
        self.leave_out("loop", format!("over {name}"), "its requests run once, for the first element");
        let [count_name, element_name] = names;
        let element = self.captured.get(name).cloned().and_then(|list| {
            let path = Some(format!("{}[0]", list.path?));
            Some(Captured { path, kind: Kind::Unknown, is_made: false, ..list })
        });
        let outside = self.constants.len();
        self.constants.push((count_name.clone(), 0.into()));
        let shadowed = element.and_then(|element| self.captured.insert(element_name.clone(), element));
        self.flow(steps);
        self.constants.truncate(outside);
        match shadowed {
            Some(before) => self.captured.insert(element_name.clone(), before),
            None => self.captured.remove(element_name),
        };
    }

    /// Returns the first and the last turn of a loop; `None` for a number that is not known.
    fn range(&self, count: &Node) -> Option<(usize, usize)> {
        let text = match count {
            Node::Text(text) => match text::whole(text) {
                Some(name) => javascript::in_text(&self.known(name)?),
                None if text::has_names(text) => return None,
                None => text.clone(),
            },
            Node::Number(_) => javascript::in_text(count),
            _ => return None,
        };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        match (number(&text), text.split_once('-')) {
            // Zero counts as no number, which is a loop without end.
            (Some(to), _) if to < 0.0 || to == 0.0 && count.text().is_none() => None,
            (Some(to), _) => Some((0, to.ceil().min(1e9) as usize)),
            (None, Some((from, to))) => {
                Some((number(from)?.clamp(0.0, 1e9) as usize, number(to)?.clamp(0.0, 1e9) as usize))
            }
            (None, None) => Some((0, 0)),
        }
    }

    /// Returns the expression that is all of a text.
    fn expression(&mut self, text: &str) -> Option<Expression> {
        match self.find(text::whole(text)?) {
            Found::Piece(Piece::Placeholder(expression), _) => Some(expression),
            _ => None,
        }
    }
}

/// Whether steps use the names of a loop.
fn uses(steps: &[Node], names: &[String; 2]) -> bool {
    steps.iter().any(|step| {
        let text = step.to_json();
        names.iter().any(|name| text.contains(name.as_str()))
    })
}
