//! Subjects: services with a label, which the clinic starts and has diagnosed.

use crate::environment::Environment;
use crate::location::Location;
use serde::Serialize;
use serde_json::Value;
use torr_gauge::Factor;
use torr_test_support::error::Error;

/// The truth about a subject.
#[derive(Debug, Clone, Serialize)]
pub struct Label {
    /// Whether a fault was planted.
    pub fault: bool,
    /// The factor that limits, and rarely a second one that is as true.
    pub factors: Vec<Factor>,
    /// The facts of which Torr's verdict must have one, where the factor alone says nothing: a kept rate with a fault behind it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub shows: &'static [&'static str],
    /// The location of the fault in the service, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

impl Label {
    /// Whether a verdict is right. A planted fault must be named. Of a healthy service, `none` and `unknown` are right as well.
    pub fn allows(&self, factor: Factor) -> bool {
        self.factors.contains(&factor) || (!self.fault && [Factor::None, Factor::Unknown].contains(&factor))
    }

    /// Whether a verdict of Torr has a fact that the label wants. What other tools say has no facts, and is not judged by them.
    pub fn is_shown(&self, trail: &Value) -> bool {
        let Some(facts) = trail["verdict"]["facts"].as_array() else { return true };
        let has = |name: &&str| facts.iter().any(|fact| fact["fact"] == **name);
        self.shows.is_empty() || self.shows.iter().any(has)
    }

    /// Returns the factor by which subjects are ordered.
    pub fn main(&self) -> Factor {
        self.factors[0]
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let factors: Vec<_> = self.factors.iter().map(Factor::to_string).collect();
        write!(f, "{}{}", if self.fault { "" } else { "healthy: " }, factors.join("/"))
    }
}

/// Starts all programs of a service, and returns its URL.
pub type Start = fn(&mut Environment) -> Result<String, Error>;

/// A service and the load on it.
pub struct Form {
    /// Starts the service.
    pub start: Start,
    /// The arguments of `torr` beside the URL, where the load is not the default.
    pub arguments: &'static [&'static str],
}

/// A service that is diagnosed.
pub struct Subject {
    /// The name, unique and fit for a file.
    pub name: &'static str,
    /// The verdict that is right.
    pub label: Label,
    /// Programs that the subject needs beside `torr` and the clinic.
    pub programs: &'static [&'static str],
    /// Whether the subject needs root.
    pub root: bool,
    /// The service as it is diagnosed.
    pub form: Form,
    /// The service after the advice of the right verdict was followed, or with half of the cost of its location where that is known.
    /// `None` where that cannot be done, or is more than one change.
    pub cured: Option<Form>,
    /// Whether the service's code is compiled while it runs, so that it is not at its full speed in the first seconds.
    pub is_compiled_late: bool,
}

impl Subject {
    /// Creates a subject with a planted fault.
    pub fn fault(name: &'static str, factor: Factor, start: Start) -> Self {
        Self::new(name, Label { fault: true, factors: vec![factor], shows: &[], location: None }, start)
    }

    /// Creates a subject without a fault. `ceilings` are the factors that may be called its limit.
    pub fn healthy(name: &'static str, ceilings: &[Factor], start: Start) -> Self {
        Self::new(name, Label { fault: false, factors: ceilings.to_vec(), shows: &[], location: None }, start)
    }

    fn new(name: &'static str, label: Label, start: Start) -> Self {
        let form = Form { start, arguments: &[] };
        Self { name, label, programs: &[], root: false, form, cured: None, is_compiled_late: false }
    }

    /// Adds a factor that is as true.
    pub fn or(mut self, factor: Factor) -> Self {
        self.label.factors.push(factor);
        self
    }

    /// Sets the facts of which Torr's verdict must have one.
    pub fn shows(mut self, facts: &'static [&'static str]) -> Self {
        self.label.shows = facts;
        self
    }

    /// Sets the location of the fault.
    pub fn at(mut self, location: Location) -> Self {
        self.label.location = Some(location);
        self
    }

    /// Sets the programs that the subject needs.
    pub fn needs(mut self, programs: &'static [&'static str]) -> Self {
        self.programs = programs;
        self
    }

    /// Marks a subject that needs root.
    pub fn for_root(mut self) -> Self {
        self.root = true;
        self
    }

    /// Marks a service whose code is compiled while it runs.
    pub fn compiled_late(mut self) -> Self {
        self.is_compiled_late = true;
        self
    }

    /// Sets the arguments of `torr`.
    pub fn with(mut self, arguments: &'static [&'static str]) -> Self {
        self.form.arguments = arguments;
        self
    }

    /// Sets the cured form: another service under the load that was set before.
    pub fn cured(mut self, start: Start) -> Self {
        self.cured = Some(Form { start, arguments: self.form.arguments });
        self
    }

    /// Sets the load of the cured form, whose service is the diagnosed one if no other was set before.
    pub fn cured_with(mut self, arguments: &'static [&'static str]) -> Self {
        self.cured = Some(Form { start: self.cured.map_or(self.form.start, |cured| cured.start), arguments });
        self
    }
}
