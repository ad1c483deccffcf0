//! Temporary folders.

use tempfile::TempDir;
use torr_net::errors::describe;

/// Makes a folder that is removed with its value.
pub fn temporary() -> Result<TempDir, String> {
    let made = tempfile::Builder::new().prefix("torr-lab-").tempdir();
    made.map_err(|error| format!("cannot create a temporary directory: {}", describe(&error)))
}
