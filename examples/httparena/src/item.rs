//! An item, and the data set of which `/json` sends the first ones.

use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;

/// An item, of the data set or of the database.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Item {
    /// The key.
    pub id: i32,
    /// The name.
    pub name: String,
    /// The category.
    pub category: String,
    /// The price of one.
    pub price: i32,
    /// How many there are.
    pub quantity: i32,
    /// Whether it can be had.
    pub active: bool,
    /// Words about it.
    pub tags: Vec<String>,
    /// What buyers think.
    pub rating: Rating,
}

/// A rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub struct Rating {
    /// The score.
    pub score: i32,
    /// The number of buyers that gave one.
    pub count: i32,
}

/// Reads the data set. A file that does not exist is an empty data set, and a line on standard error: profiles that do
/// without it are served.
///
/// # Errors
/// In words, for a file that cannot be read or is no list of items.
pub fn read(path: &Path) -> Result<Vec<Item>, String> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("torr-httparena: {} does not exist: /json has no items", path.display());
            return Ok(Vec::new());
        }
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    serde_json::from_slice(&text).map_err(|error| format!("{} is no list of items: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::read;
    use std::path::Path;

    #[test]
    fn no_file_is_an_empty_data_set_and_a_wrong_one_an_error() {
        assert_eq!(read(Path::new("/nowhere/dataset.json")), Ok(Vec::new()));
        let wrong = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(read(&wrong).is_err_and(|error| error.contains("Cargo.toml is no list of items")));
    }
}
