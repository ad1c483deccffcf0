//! The tasks of a virtual user: what its script engine runs from begin to end.

use crate::error::ScriptError;
use std::rc::Rc;

/// A task.
#[derive(Debug)]
pub enum Task {
    /// Runs the top level of all modules.
    Init,
    /// Calls `setup`.
    Setup,
    /// Calls the function of a scenario with the data of `setup`.
    Iteration(IterationTask),
    /// Calls `teardown` with the data of `setup`.
    Teardown,
    /// Calls `handleSummary` with data in JSON.
    Summary(String),
}

/// An iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationTask {
    /// The name by which the function is exported.
    pub function: Rc<str>,
    /// The number of the iteration among all of the virtual user, from 0: what scripts see as `__ITER`.
    pub number: u64,
    /// The number of the scenario, in the order of names.
    pub scenario: usize,
}

impl IterationTask {
    /// Returns the first iteration of the first scenario, whose function is exported by this name.
    #[must_use]
    pub fn first(function: &str) -> Self {
        Self { function: function.into(), number: 0, scenario: 0 }
    }
}

/// Files by their names with their contents.
pub type Files = Vec<(String, Vec<u8>)>;

/// The end of a task.
#[derive(Debug)]
pub enum TaskEnd {
    /// The modules are loaded.
    Loaded(Exports),
    /// The function has returned: what it returned in JSON, `None` if that was `undefined` or is not needed.
    Returned(Option<String>),
    /// `handleSummary` has returned: the names of the files and their contents. `None` if it returned nothing that can be written.
    Files(Option<Files>),
    /// The script has thrown an error.
    Threw(Box<ScriptError>),
    /// The task was interrupted.
    Interrupted,
}

/// What the main module exports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exports {
    /// `options` in JSON; `None` if there are none.
    pub options: Option<String>,
    /// The names of the functions, `default` among them.
    pub functions: Vec<String>,
    /// The names of what is no function.
    pub values: Vec<String>,
    /// The number of bytes that the script takes behind its top level; 0 where it was not counted.
    pub memory: u64,
}

impl Exports {
    /// Returns whether a function of this name is exported.
    #[must_use]
    pub fn has(&self, function: &str) -> bool {
        self.functions.iter().any(|name| name == function)
    }
}
