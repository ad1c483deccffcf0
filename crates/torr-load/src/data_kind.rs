//! The kinds of pieces that a body is made of.

/// What a piece of a body means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataKind {
    /// `@FILE` reads a file, without its line breaks.
    Plain,
    /// `@` means nothing.
    Raw,
    /// `@FILE` reads a file as it is.
    Binary,
    /// To be percent-encoded.
    UrlEncode,
}

impl DataKind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Plain, "data"),
        (Self::Raw, "data-raw"),
        (Self::Binary, "data-binary"),
        (Self::UrlEncode, "data-urlencode"),
    ];

    /// Returns the kind whose setting has this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// Returns the name of the kind's setting.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("data", |(_, name)| name)
    }
}
