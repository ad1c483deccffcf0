//! The content of the pages without a database.

use serde::Serialize;

/// The page of the source documents.
pub const HELLO: &str = "<p>Hello, world!</p>";
/// The text of TechEmpower's plaintext test.
pub const PLAINTEXT: &str = "Hello, World!";

/// The object of TechEmpower's JSON test.
#[derive(Debug, Serialize)]
pub struct Message {
    pub message: &'static str,
}
