//! A run that goes on, to be looked at and steered: as a full screen in the terminal, and as a page for browsers.
//!
//! Data flow one way: the run hands over what is complete once a second ([`Live::update`], [`Dashboard::update`]), a thread of
//! its own shows it, and what an operator wants reaches the run by its [`torr_press::Steering`]. Nothing here is on the path of
//! a request.
#![forbid(unsafe_code)]

mod draw;
mod keys;
mod live;
mod log;
mod printed;
mod procedure;
mod screen;
mod show;
mod signals;
mod subject;
mod theme;
mod view;
mod web;
mod wish;
mod words;

pub use live::{Live, StepsLive};
pub use procedure::About;
pub use screen::{is_possible, restore};
pub use view::Load;
pub use web::{Dashboard, DashboardSettings, StepsDashboard};
