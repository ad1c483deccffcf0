//! The variables of a description, which become variables of the hurl file: a value that is known is defined at the first entry,
//! a credential is read from the environment, and what has no value is said.

use crate::draft::Draft;
use crate::parts::{NOWHERE, option, push};
use crate::secret::Secrets;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use torr_session::hurl::ast::{EntryOption, Expression, OptionName, OptionValue, Piece, Source, Template, Value};

/// The levels of variables whose values name other variables.
const DEEPEST: usize = 16;

/// A value that the description gives to a variable.
#[derive(Debug, Clone)]
struct Known {
    value: String,
    is_secret: bool,
}

/// The variables of a description.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    known: BTreeMap<String, Known>,
    /// The names in the hurl file, by the names in the description.
    names: HashMap<String, String>,
    taken: BTreeSet<String>,
    /// Definitions for the first entry, in the order in which they need each other.
    definitions: Vec<EntryOption>,
    defined: BTreeSet<String>,
    /// Names of variables that captures have given a value by now.
    assigned: BTreeSet<String>,
    missing: Vec<String>,
    /// Names of variables whose values are being read.
    resolving: Vec<String>,
}

/// A piece of text with references.
pub(crate) enum Part<'t> {
    Text(&'t str),
    Reference(&'t str),
}

/// Splits text at `{{name}}`.
pub(crate) fn in_braces(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start + 2..].find("}}") else { break };
        // Of several braces in a row the last two open, as in {"a":{{b}}}.
        let name = &rest[start + 2..start + 2 + length];
        let skipped = name.len() - name.trim_start_matches('{').len();
        let start = start + skipped;
        let name = &name[skipped..];
        let end = start + 2 + name.len() + 2;
        if name.trim().is_empty() || name.contains(['\n', '{', '"']) {
            parts.push(Part::Text(&rest[..start + 2]));
            rest = &rest[start + 2..];
            continue;
        }
        if start > 0 {
            parts.push(Part::Text(&rest[..start]));
        }
        parts.push(Part::Reference(name.trim()));
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

impl Variables {
    /// Returns the variables of a description in which these names occur.
    pub(crate) fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut variables = Self::default();
        names.into_iter().for_each(|name| {
            variables.name(name);
        });
        variables
    }

    /// Returns secrets whose variables have other names.
    pub(crate) fn secrets(&self) -> Secrets {
        Secrets::beside(self.taken.iter().cloned().collect())
    }

    /// Gives a variable a value, instead of the one that it may have.
    pub(crate) fn know(&mut self, name: &str, value: &str, is_secret: bool) {
        let is_secret = is_secret || Secrets::is_credential(name);
        self.known.insert(name.to_owned(), Known { value: value.to_owned(), is_secret });
    }

    /// Returns the value that the description gives to a variable.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.known.get(name).map(|known| known.value.as_str())
    }

    /// Returns the value of a variable that is no credential.
    pub(crate) fn plain_value(&self, name: &str) -> Option<&str> {
        self.known.get(name).filter(|known| !known.is_secret).map(|known| known.value.as_str())
    }

    /// Whether an entry has used a variable by now, or given it a value.
    pub(crate) fn is_used(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|name| self.defined.contains(name) || self.assigned.contains(name))
    }

    /// Returns a variable's name in the hurl file.
    pub(crate) fn name(&mut self, name: &str) -> String {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let plain: String = name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
        let is_function = matches!(plain.as_str(), "newUuid" | "newDate" | "getEnv" | "");
        let base = if is_function { format!("{plain}_") } else { plain };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let free = std::iter::once(base.clone()).chain(numbered).find(|name| !self.taken.contains(name));
        let free = free.unwrap_or(base);
        self.taken.insert(free.clone());
        self.names.insert(name.to_owned(), free.clone());
        free
    }

    /// Returns the name of a variable that a capture gives a value from here on.
    pub(crate) fn assign(&mut self, name: &str) -> String {
        let name = self.name(name);
        self.assigned.insert(name.clone());
        name
    }

    /// Returns the expression that stands for a variable. `template` makes a template of a value.
    pub(crate) fn used(
        &mut self,
        name: &str,
        secrets: &mut Secrets,
        template: &mut dyn FnMut(&mut Self, &mut Secrets, &str) -> Template,
    ) -> Expression {
        let variable = self.name(name);
        let expression = crate::parts::variable(&variable);
        let is_circle = self.resolving.contains(&variable) && !self.missing.contains(&variable);
        if is_circle {
            self.missing.push(variable);
            return expression;
        }
        if self.assigned.contains(&variable) || self.defined.contains(&variable) {
            return expression;
        }
        self.defined.insert(variable.clone());
        match self.known.get(name).cloned() {
            Some(known) if known.is_secret => {
                secrets.note(&variable, &format!("variable {name}"), &known.value);
            }
            Some(known) if self.resolving.len() < DEEPEST => {
                self.resolving.push(variable.clone());
                let value = template(self, secrets, &known.value);
                let value = if known.value.contains("://") { secrets.url(value) } else { value };
                self.resolving.pop();
                let of = OptionValue::Definition { name: variable, value: Value::Text(value) };
                self.definitions.push(option(OptionName::Variable, of));
            }
            _ if Secrets::is_credential(name) => secrets.note(&variable, &format!("variable {name}"), ""),
            _ => self.missing.push(variable),
        }
        expression
    }

    /// Whether a variable's own value is being read.
    pub(crate) fn is_defining(&self) -> bool {
        !self.resolving.is_empty()
    }

    /// Writes the definitions into the first entry, and says which variables have no value.
    pub(crate) fn finish(self, draft: &mut Draft) {
        if let Some(first) = draft.entries.first_mut() {
            first.entry.request.options.splice(0..0, self.definitions);
        }
        for name in self.missing {
            draft.notes.push(without_value(&name));
        }
    }
}

/// Says that a variable has no value, and how a run gives it one.
pub(crate) fn without_value(name: &str) -> String {
    format!("variable '{name}' has no value: set it with --variable {name}=VALUE or HURL_VARIABLE_{name}")
}

/// Returns a template of text with `{{name}}`, in which the programs' own functions have their counterparts.
pub(crate) fn braced(
    variables: &mut Variables,
    secrets: &mut Secrets,
    text: &str,
    function: &mut dyn FnMut(&str) -> Option<Piece>,
) -> Template {
    let mut pieces: Vec<Piece> = Vec::new();
    for part in in_braces(text) {
        let piece =
            match part {
                Part::Text(text) => Piece::Text(text.to_owned()),
                Part::Reference(name) => function(name).unwrap_or_else(|| {
                    Piece::Placeholder(variables.used(name, secrets, &mut |variables, secrets, value| {
                        braced(variables, secrets, value, function)
                    }))
                }),
            };
        push(&mut pieces, piece);
    }
    Template(pieces)
}

/// Returns the expression of a new UUID.
pub(crate) fn new_uuid() -> Piece {
    Piece::Placeholder(Expression { source: Source::NewUuid, filters: Vec::new(), at: NOWHERE })
}

/// Returns the expression of a variable of the environment.
pub(crate) fn of_environment(name: &str) -> Piece {
    Piece::Placeholder(Expression { source: Source::Environment(name.to_owned()), filters: Vec::new(), at: NOWHERE })
}

/// Returns the expression of the current date in a format of `strftime`.
pub(crate) fn new_date(format: &str) -> Piece {
    let filters = vec![torr_session::hurl::ast::Filter::DateFormat(format.into())];
    Piece::Placeholder(Expression { source: Source::NewDate, filters, at: NOWHERE })
}
