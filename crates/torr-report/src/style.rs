//! The few styles of all text. Whoever prints strips them where there is no terminal (`anstream`).

use anstyle::{AnsiColor, Style};

/// What the eye should find first.
pub const STRONG: Style = Style::new().bold();
/// What explains.
pub const FAINT: Style = Style::new().dimmed();
/// Good news.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Bad news.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// The text in a style.
pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
