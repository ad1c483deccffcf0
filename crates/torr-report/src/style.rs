//! The styles of all text. `anstream` strips them if the output is not a terminal.

use anstyle::{AnsiColor, Style};

/// The most important text of a line.
pub const STRONG: Style = Style::new().bold();
/// Labels and explanations.
pub const FAINT: Style = Style::new().dimmed();
/// A good result.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// A bad result.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// Returns the text in a style.
pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
