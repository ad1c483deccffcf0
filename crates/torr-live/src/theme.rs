//! The styles of the screen: the sixteen colours of the terminal, or none.

use ratatui::style::{Color, Modifier, Style};

/// The styles by their meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    /// What a reader looks at first.
    pub strong: Style,
    /// Labels and frames.
    pub faint: Style,
    /// The line of a plot.
    pub plot: Style,
    /// The second line of a plot.
    pub second: Style,
    /// What is as it should be.
    pub good: Style,
    /// What asks for attention.
    pub warn: Style,
    /// Errors.
    pub bad: Style,
}

impl Theme {
    /// Returns the theme of the environment: without colours where `NO_COLOR` is set to anything but nothing.
    pub fn of_environment() -> Self {
        let refuses = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if refuses { Self::plain() } else { Self::colours() }
    }

    /// Returns the theme with colours.
    pub fn colours() -> Self {
        let of = |colour| Style::new().fg(colour);
        Self {
            strong: Style::new().add_modifier(Modifier::BOLD),
            faint: of(Color::DarkGray),
            plot: of(Color::Cyan),
            second: of(Color::Magenta),
            good: of(Color::Green),
            warn: of(Color::Yellow),
            bad: of(Color::Red),
        }
    }

    /// Returns the theme without colours, in which only boldness tells.
    pub fn plain() -> Self {
        let (plain, bold) = (Style::new(), Style::new().add_modifier(Modifier::BOLD));
        Self { strong: bold, faint: plain, plot: plain, second: plain, good: plain, warn: bold, bad: bold }
    }
}
