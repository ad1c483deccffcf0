//! What names of variables mean in a request: Bruno looks for them in what scripts have set, in the request, its folders, the
//! environment and the collection, in this order.
//!
//! A variable that has one value in the whole collection is a variable of the hurl file. One that has several, or that is made
//! anew for each request, stands in each request as its value.

use super::dynamic;
use super::item::{Environment, Item, Level};
use crate::draft::LeftOut;
use crate::parts::push;
use crate::secret::Secrets;
use crate::variables::{Variables, of_environment};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use torr_session::hurl::ast::{Piece, Template};

/// The levels of variables whose values name other variables.
const DEEPEST: usize = 16;

/// The names that a text may lead to, with those in their values.
const MOST: usize = 10_000;

/// The beginning of the name of a variable of the process's environment.
const PROCESS: &str = "process.env.";

/// What stands between braces, or beside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part<'t> {
    Text(&'t str),
    /// A name, with the space around it.
    Name(&'t str),
}

/// Splits text at `{{name}}`, as Bruno does: a name is what stands between two braces and the next.
/// What has a brace, a quotation mark or a line break in it is no name, but no other begins in it.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(open) = text[at..].find("{{").map(|found| at + found) {
        let inside = open + 2;
        let Some(length) = text[inside..].find('}') else { break };
        let end = inside + length;
        if length == 0 || !text[end..].starts_with("}}") {
            at = end.max(open + 1);
            continue;
        }
        if text[inside..end].contains(['{', '"', '\n']) {
            at = end + 2;
            continue;
        }
        if open > start {
            parts.push(Part::Text(&text[start..open]));
        }
        parts.push(Part::Name(&text[inside..end]));
        (start, at) = (end + 2, end + 2);
    }
    if start < text.len() {
        parts.push(Part::Text(&text[start..]));
    }
    parts
}

/// A value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    value: String,
    is_secret: bool,
}

/// The variables of a collection.
#[derive(Debug, Default)]
pub(super) struct Scope {
    collection: HashMap<String, Known>,
    environment: HashMap<String, Known>,
    /// Values of the file `.env`.
    process: HashMap<String, String>,
    /// Those of the request that is read, and of its folders.
    inner: HashMap<String, Known>,
    /// Names whose values differ between requests, or are made anew for each.
    varying: BTreeSet<String>,
    /// Names that scripts and responses have given a value by now, in all requests from here on.
    assigned: BTreeSet<String>,
    /// Names of the environment that scripts have given a value.
    assigned_in_environment: BTreeSet<String>,
}

/// What a name means.
enum Meaning<'s> {
    /// A variable that has got its value in the run.
    Assigned,
    Known(&'s Known),
    Nothing,
}

impl Scope {
    /// Returns the variables of a collection whose requests stand in these levels.
    pub(super) fn new(
        root: &Level,
        environment: &Environment,
        process: HashMap<String, String>,
        items: &[(Vec<&Level>, &Item)],
    ) -> Self {
        let mut scope = Self { process, ..Self::default() };
        add(&mut scope.collection, root);
        for row in environment.variables.iter().filter(|row| row.is_on) {
            scope.environment.insert(row.name.clone(), Known { value: row.value.clone(), is_secret: false });
        }
        for name in &environment.secrets {
            scope.environment.insert(name.clone(), Known { value: String::new(), is_secret: true });
        }
        scope.find_varying(items);
        scope
    }

    /// Enters a request.
    pub(super) fn enter(&mut self, levels: &[&Level], item: &Item) {
        self.inner = inner(levels, item);
    }

    /// Notes a name that has a value from here on. `is_of_environment` tells whether variables of folders and requests win.
    pub(super) fn assign(&mut self, name: &str, is_of_environment: bool) {
        let names = if is_of_environment { &mut self.assigned_in_environment } else { &mut self.assigned };
        names.insert(name.to_owned());
    }

    fn find_varying(&mut self, items: &[(Vec<&Level>, &Item)]) {
        let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (levels, item) in items {
            for (name, known) in inner(levels, item) {
                values.entry(name).or_default().insert(known.value);
            }
        }
        for (name, of_name) in &mut values {
            of_name.extend(
                self.environment.get(name).or_else(|| self.collection.get(name)).map(|known| known.value.clone()),
            );
        }
        for (name, known) in self.collection.iter().chain(&self.environment) {
            values.entry(name.clone()).or_insert_with(|| BTreeSet::from([known.value.clone()]));
        }
        let several = values.iter().filter(|(_, of_name)| of_name.len() > 1).map(|(name, _)| name);
        let mut varying: Vec<&String> = several.collect();
        // What names one of them varies too.
        let mut named_by: HashMap<&str, Vec<&String>> = HashMap::new();
        for (name, of_name) in &values {
            for part in of_name.iter().flat_map(|value| parts(value)) {
                match part {
                    Part::Name(inner) if dynamic::is_one(inner) => varying.push(name),
                    Part::Name(inner) => named_by.entry(inner).or_default().push(name),
                    Part::Text(_) => {}
                }
            }
        }
        while let Some(name) = varying.pop() {
            if self.varying.insert(name.clone()) {
                varying.extend(named_by.get(name.as_str()).into_iter().flatten());
            }
        }
    }

    fn meaning(&self, name: &str) -> Meaning<'_> {
        if self.assigned.contains(name) {
            return Meaning::Assigned;
        }
        if let Some(known) = self.inner.get(name) {
            return Meaning::Known(known);
        }
        if self.assigned_in_environment.contains(name) {
            return Meaning::Assigned;
        }
        match self.environment.get(name).or_else(|| self.collection.get(name)) {
            Some(known) => Meaning::Known(known),
            None => Meaning::Nothing,
        }
    }

    /// Returns the text that a name stands for, if it is known before the run and no secret.
    pub(super) fn literal(&self, name: &str) -> Option<String> {
        self.literal_at(name, 0, &mut MOST.clone())
    }

    /// `steps` is the number of names that may still be looked up.
    fn literal_at(&self, name: &str, depth: usize, steps: &mut usize) -> Option<String> {
        *steps = steps.checked_sub(1)?;
        let Meaning::Known(known) = self.meaning(name) else { return None };
        if known.is_secret || Secrets::is_credential(name) || depth > DEEPEST {
            return None;
        }
        let mut text = String::new();
        for part in parts(&known.value) {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Name(name) => text.push_str(&self.literal_at(name, depth + 1, steps)?),
            }
        }
        Some(text)
    }

    /// Returns text in which names stand as their values, where they are known before the run and no secrets, or where their
    /// values stand in the request. All others stand for themselves.
    pub(super) fn known(&self, text: &str) -> String {
        self.known_at(text, 0, &mut MOST.clone())
    }

    fn known_at(&self, text: &str, depth: usize, steps: &mut usize) -> String {
        let mut made = String::new();
        for part in parts(text) {
            let name = match part {
                Part::Text(part) => {
                    made.push_str(part);
                    continue;
                }
                Part::Name(name) => name,
            };
            let is_shown = |known: &Known| self.varying.contains(name) && !known.is_secret && depth <= DEEPEST;
            match (self.literal_at(name, 0, steps), self.meaning(name)) {
                (Some(value), _) => made.push_str(&value),
                (None, Meaning::Known(known)) if is_shown(known) && *steps > 0 => {
                    made.push_str(&self.known_at(&known.value, depth + 1, steps));
                }
                _ => made.push_str(&format!("{{{{{name}}}}}")),
            }
        }
        made
    }

    /// Returns a template of text with variables.
    pub(super) fn template(
        &self,
        text: &str,
        variables: &mut Variables,
        secrets: &mut Secrets,
        left_out: &mut Vec<LeftOut>,
    ) -> Template {
        let mut pieces = Vec::new();
        let mut reading = Reading { scope: self, left_out, within: Vec::new(), steps: MOST };
        reading.add(text, variables, secrets, &mut pieces);
        if reading.steps == 0 {
            left_out.push(LeftOut::new("values of variables", "", format!("more than {MOST} names in one text")));
        }
        Template(pieces)
    }
}

/// Reading of text, with the names whose values it is in.
struct Reading<'r> {
    scope: &'r Scope,
    left_out: &'r mut Vec<LeftOut>,
    within: Vec<String>,
    /// The number of names that may still be read.
    steps: usize,
}

impl Reading<'_> {
    fn add(&mut self, text: &str, variables: &mut Variables, secrets: &mut Secrets, pieces: &mut Vec<Piece>) {
        for part in parts(text) {
            match part {
                Part::Text(text) => push(pieces, Piece::Text(text.to_owned())),
                Part::Name(name) => self.add_name(name, variables, secrets, pieces),
            }
        }
    }

    fn add_name(&mut self, name: &str, variables: &mut Variables, secrets: &mut Secrets, pieces: &mut Vec<Piece>) {
        if let Some(piece) = dynamic::piece(name, self.left_out) {
            push(pieces, piece);
            return;
        }
        self.steps = self.steps.saturating_sub(1);
        if self.steps == 0
            || name.trim() != name
            || self.within.iter().any(|outer| outer == name)
            || self.within.len() > DEEPEST
        {
            let which = format!("{{{{{name}}}}}");
            self.left_out.push(LeftOut::new("variable", which.as_str(), "Bruno sends it as it is"));
            push(pieces, Piece::Text(which));
            return;
        }
        if let Some(of_process) = name.strip_prefix(PROCESS) {
            match self.scope.process.get(of_process) {
                Some(value) => variables.know(name, value, true),
                None => {
                    return push(pieces, of_environment(of_process));
                }
            }
        }
        // The tokens that Bruno gets.
        let name = if name.starts_with("$oauth2.") { &name[1..] } else { name };
        // A question to the person who runs the collection.
        let name = name.strip_prefix('?').map_or(name, str::trim);
        if let Meaning::Known(known) = self.scope.meaning(name) {
            let is_credential = known.is_secret || Secrets::is_credential(name);
            let varies = self.scope.varying.contains(name);
            if varies && is_credential && !known.value.contains("{{") && !known.value.is_empty() {
                let secret = secrets.whole(name, &format!("variable {name}"), &known.value);
                secret.0.into_iter().for_each(|piece| push(pieces, piece));
                return;
            }
            if varies && !(known.is_secret && known.value.is_empty()) {
                self.within.push(name.to_owned());
                self.add(&known.value, variables, secrets, pieces);
                self.within.pop();
                return;
            }
            variables.know(name, &known.value, known.is_secret);
        }
        let expression = variables.used(name, secrets, &mut |variables, secrets, value| {
            let mut pieces = Vec::new();
            self.within.push(name.to_owned());
            self.add(value, variables, secrets, &mut pieces);
            self.within.pop();
            Template(pieces)
        });
        push(pieces, Piece::Placeholder(expression));
    }
}

fn add(known: &mut HashMap<String, Known>, level: &Level) {
    for row in level.variables.iter().filter(|row| row.is_on) {
        known.insert(row.name.clone(), Known { value: row.value.clone(), is_secret: false });
    }
}

/// Returns the variables of folders and of the request itself; the first level is the whole collection's.
fn inner(levels: &[&Level], item: &Item) -> HashMap<String, Known> {
    let mut known = HashMap::new();
    levels.iter().skip(1).for_each(|level| add(&mut known, level));
    add(&mut known, &item.level);
    known
}

#[cfg(test)]
mod tests {
    use super::{Part, parts};

    #[test]
    fn names_stand_between_two_braces() {
        let shown = |text| {
            parts(text).into_iter().map(|part| match part {
                Part::Text(text) => format!("t:{text}"),
                Part::Name(name) => format!("n:{name}"),
            })
        };
        for (text, expected) in [
            ("a{{b}}c", "t:a n:b t:c"),
            ("{\"a\":{{b}}}", "t:{\"a\": n:b t:}"),
            ("{{{b}}}c{{d}}", "t:{{{b}}}c n:d"),
            ("{{}}{{a}", "t:{{}}{{a}"),
            ("{{ a }}", "n: a "),
            ("{a}{{b}}", "t:{a} n:b"),
            ("", ""),
        ] {
            assert_eq!(shown(text).collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }
}
