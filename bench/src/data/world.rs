//! A row of World in a response.

use serde::Deserialize;

/// A row of World, as in a response.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct World {
    /// From 1 to 10,000.
    pub id: i32,
    /// From 1 to 10,000.
    pub random_number: i32,
}
