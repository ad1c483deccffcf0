//! A service of the clinic: its name, what is wrong with it, and how it is started.

use crate::environment::Environment;
use crate::error::Error;
use serde::Serialize;
use torr_gauge::Factor;

/// What limits a subject, as its planter knows.
#[derive(Debug, Clone, Serialize)]
pub struct Label {
    /// Whether a fault was planted.
    pub fault: bool,
    /// The true factor, and rarely a second one that is as true.
    pub factors: Vec<Factor>,
}

impl Label {
    /// Whether a verdict is right: a planted fault must be named; of a healthy service it is right as well
    /// not to know, or that nothing limits.
    pub fn allows(&self, factor: Factor) -> bool {
        self.factors.contains(&factor) || (!self.fault && [Factor::None, Factor::Unknown].contains(&factor))
    }

    /// The factor that the list is ordered by.
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

/// Starts all of a service's programs, and gives its URL.
pub type Start = fn(&mut Environment) -> Result<String, Error>;

/// A service that is judged.
pub struct Subject {
    /// Unique, in the manner of a file's name.
    pub name: &'static str,
    /// What the doctor should say.
    pub label: Label,
    /// Programs that it takes beside our own.
    pub programs: &'static [&'static str],
    /// Whether it takes root's rights.
    pub root: bool,
    /// More arguments for the doctor, where the fault is in how load is made.
    pub arguments: &'static [&'static str],
    pub start: Start,
}

impl Subject {
    /// One with a planted fault.
    pub fn fault(name: &'static str, factor: Factor, start: Start) -> Self {
        Self::new(name, Label { fault: true, factors: vec![factor] }, start)
    }

    /// One without, and what may be called its ceiling.
    pub fn healthy(name: &'static str, ceilings: &[Factor], start: Start) -> Self {
        Self::new(name, Label { fault: false, factors: ceilings.to_vec() }, start)
    }

    fn new(name: &'static str, label: Label, start: Start) -> Self {
        Self { name, label, programs: &[], root: false, arguments: &[], start }
    }

    /// Says that another verdict is as true.
    pub fn or(mut self, factor: Factor) -> Self {
        self.label.factors.push(factor);
        self
    }

    /// Says which programs it takes.
    pub fn needs(mut self, programs: &'static [&'static str]) -> Self {
        self.programs = programs;
        self
    }

    /// Says that it takes root's rights.
    pub fn for_root(mut self) -> Self {
        self.root = true;
        self
    }

    /// Has the doctor get more arguments.
    pub fn with(mut self, arguments: &'static [&'static str]) -> Self {
        self.arguments = arguments;
        self
    }
}
