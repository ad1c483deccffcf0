//! Bodies that are written as text and sent as something else, such as the messages of gRPC.

use std::fmt;
use std::sync::Arc;

/// The function of an [`Encoder`].
type Encode = dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync;

/// A function that turns the text of a body, its placeholders filled in, into content, or tells in one line why it cannot.
#[derive(Clone)]
pub struct Encoder(Arc<Encode>);

impl Encoder {
    /// Creates an encoder.
    pub fn new(encode: impl Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(encode))
    }

    /// Returns the content of a text.
    ///
    /// # Errors
    /// The line that tells why the text has none.
    pub fn encode(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        (self.0)(text)
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encoder")
    }
}

/// Encoders are equal where they are the same function.
impl PartialEq for Encoder {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Encoder {}
