//! The error of a command line.

use std::ffi::OsString;
use torr_gauge::redact;

/// The reason why a command line is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// The message, without passwords and without control characters.
    pub message: String,
    /// Whether the program prints its usage with the message.
    pub with_usage: bool,
}

impl UsageError {
    /// Returns an error that the program prints with its usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: redact::line(&message.into()), with_usage: true }
    }

    /// Returns an error that the program prints on one line.
    pub fn plain(message: impl Into<String>) -> Self {
        Self { message: redact::line(&message.into()), with_usage: false }
    }
}

impl From<lexopt::Error> for UsageError {
    fn from(error: lexopt::Error) -> Self {
        Self::usage(match error {
            lexopt::Error::MissingValue { option: Some(option) } => format!("missing value of option '{option}'"),
            lexopt::Error::UnexpectedOption(option) => format!("unknown option '{option}'"),
            lexopt::Error::UnexpectedValue { option, .. } => format!("option '{option}' must not have a value"),
            other => other.to_string(),
        })
    }
}

/// Returns the value of an option as text.
pub fn text(parser: &mut lexopt::Parser) -> Result<String, UsageError> {
    utf8(parser.value()?)
}

/// Returns an argument as text.
pub fn utf8(argument: OsString) -> Result<String, UsageError> {
    argument.into_string().map_err(|bytes| UsageError::usage(format!("'{}' is not UTF-8 text", bytes.display())))
}
