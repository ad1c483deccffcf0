//! Why a call cannot be made, or its content not be read.

use thiserror::Error;

/// The reason for which there is no schema, no method or no message. Each is one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GrpcError {
    /// A `.proto` file is wrong, or imports a file that is missing. The text begins with file, line and column where they are known.
    #[error("{0}")]
    Proto(String),
    /// A descriptor set or a server's descriptor is wrong.
    #[error("invalid descriptors: {0}")]
    Descriptors(String),
    /// The path of the URL is not that of a method.
    #[error("the path of the URL must be /PACKAGE.SERVICE/METHOD, found '{0}'")]
    Path(String),
    /// The schema has no such service.
    #[error("unknown service '{name}': {hint}")]
    Service {
        /// The service.
        name: String,
        /// The services that there are.
        hint: String,
    },
    /// The service has no such method.
    #[error("unknown method '{name}' of {service}: {hint}")]
    Method {
        /// The method.
        name: String,
        /// The service.
        service: String,
        /// The methods that there are.
        hint: String,
    },
    /// A text is not JSON, or does not fit the type of the message.
    #[error("message {number} is no {name}: {why}")]
    Json {
        /// The number of the message, from 1.
        number: usize,
        /// The full name of the message's type.
        name: String,
        /// The defect, with its position.
        why: String,
    },
    /// A method whose requests have one message has another number of them.
    #[error("{method} takes one message, found {found}")]
    Count {
        /// The method.
        method: String,
        /// The number of messages.
        found: usize,
    },
    /// Content is not a sequence of messages.
    #[error("{0}")]
    Framing(&'static str),
    /// The bytes of a message do not fit its type.
    #[error("message {number} is no {name}: {why}")]
    Message {
        /// The number of the message, from 1.
        number: usize,
        /// The full name of the message's type.
        name: String,
        /// The defect.
        why: String,
    },
    /// A server's reflection reports an error.
    #[error("the server's reflection reports: {0}")]
    Reflection(String),
}
