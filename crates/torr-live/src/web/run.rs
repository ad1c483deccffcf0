//! A run as the subject of a dashboard.

use super::panel;
use super::subject::{Found, Subject};
use crate::subject::Run;
use crate::wish::Wish;
use maud::Markup;
use std::sync::Arc;
use torr_gauge::RunResult;

impl Subject for Run {
    fn page(&self) -> String {
        panel::page(&self.view.load)
    }

    fn panel(&mut self, elapsed_s: f64, has_ended: bool) -> Markup {
        self.at(elapsed_s);
        panel::panel(&self.view, has_ended)
    }

    fn fulfil(&mut self, wish: Wish) {
        self.view.fulfil(wish, &self.steering);
    }

    fn found(&self, has_ended: bool) -> Option<Found> {
        let result = self.view.result.as_ref()?;
        // A verdict of the first seconds would be a guess.
        Some(Found::Run(match has_ended || self.view.can_judge() {
            true => Arc::clone(result),
            false => Arc::new(RunResult { verdict: None, ..RunResult::clone(result) }),
        }))
    }
}
