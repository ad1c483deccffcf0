//! Colours of the summary's text.

/// Whether the text has colours.
#[derive(Debug, Clone, Copy)]
pub struct Paint(pub bool);

impl Paint {
    /// Marks what holds.
    pub fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Marks what failed.
    pub fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    /// Marks a title.
    pub fn title(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Marks a figure.
    pub fn figure(self, text: &str) -> String {
        self.with("36", text)
    }

    /// Marks a lesser figure.
    pub fn lesser(self, text: &str) -> String {
        self.with("2;36", text)
    }

    /// Marks what leads from a name to its figures.
    pub fn faint(self, text: &str) -> String {
        self.with("2;37", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
