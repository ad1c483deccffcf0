//! What is expected of each response.

use crate::file_source::FileSource;

/// Checks, each of which is counted; the exit code is 1 if a response fails one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckPart {
    pub expect_status: Vec<String>,
    pub expect_header: Vec<String>,
    pub expect_body: Vec<String>,
    pub follow: bool,
    /// Where files come from, which is no setting.
    pub files: FileSource,
}
