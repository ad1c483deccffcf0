//! What is watched, for every view of it: a run with what steers it, or a procedure with what ends it.

use crate::procedure::Procedure;
use crate::view::View;
use crate::wish::Wish;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_press::Steering;

/// A run with what steers it.
#[derive(Debug)]
pub struct Run {
    pub view: View,
    pub steering: Arc<Steering>,
}

impl Run {
    /// Notes the time in seconds since the beginning, and the load as it was steered.
    pub fn at(&mut self, elapsed_s: f64) {
        self.view.at(elapsed_s);
        self.view.state = self.steering.state();
    }
}

/// A procedure with what ends it.
#[derive(Debug)]
pub struct Steps {
    pub procedure: Procedure,
    /// The result, once there is one.
    pub result: Option<Arc<Value>>,
    pub stop: Arc<AtomicBool>,
}

impl Steps {
    /// Does what an operator wants: nothing but the end can be.
    pub fn fulfil(&mut self, wish: Wish) {
        if wish == Wish::End {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Notes the time in seconds since the beginning, and whether the procedure was ended.
    pub fn at(&mut self, elapsed_s: f64) {
        self.procedure.elapsed_s = elapsed_s;
        self.procedure.is_ending |= self.stop.load(Ordering::Relaxed);
    }
}
