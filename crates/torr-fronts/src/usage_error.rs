//! What can be wrong with a command line, whatever program's it is.

use std::ffi::OsString;
use torr_gauge::redact;

/// A mistake in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// What is wrong, without passwords and without what a terminal acts on.
    pub message: String,
    /// Whether the program shows its usage with it.
    pub with_usage: bool,
}

impl UsageError {
    /// One that the program shows its usage with.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: redact::line(&message.into()), with_usage: true }
    }

    /// One that the program tells in one line.
    pub fn plain(message: impl Into<String>) -> Self {
        Self { message: redact::line(&message.into()), with_usage: false }
    }
}

impl From<lexopt::Error> for UsageError {
    fn from(error: lexopt::Error) -> Self {
        Self::usage(match error {
            lexopt::Error::MissingValue { option: Some(option) } => format!("option '{option}' needs a value"),
            lexopt::Error::UnexpectedOption(option) => format!("there is no option '{option}'"),
            lexopt::Error::UnexpectedValue { option, .. } => format!("option '{option}' takes no value"),
            other => other.to_string(),
        })
    }
}

/// The value of an option as text.
pub fn text(parser: &mut lexopt::Parser) -> Result<String, UsageError> {
    utf8(parser.value()?)
}

/// An argument as text.
pub fn utf8(argument: OsString) -> Result<String, UsageError> {
    argument.into_string().map_err(|bytes| UsageError::usage(format!("'{}' is not text in UTF-8", bytes.display())))
}
