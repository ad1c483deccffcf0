//! Plots as SVG: each file draws one kind of thing.
//!
//! A plot has no fixed width. What stretches (lines, areas) stands in an inner picture of 1,000 units across; what must not
//! (text) is placed by percentages around it. So a plot fills a phone as well as a sheet of paper, with text of one size.

pub mod bar;
pub mod dots;
pub mod envelope;
pub mod frame;
pub mod heat;
pub mod histogram;
pub mod icicle;
pub mod interval;
pub mod line;
pub mod percentiles;
pub mod scale;
pub mod tick;

/// The width of the inner picture in its units.
pub const WIDTH: f64 = 1000.0;
