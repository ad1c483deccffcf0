//! The rows as types and as Diesel models.

use diesel::{Queryable, table};
use serde::Serialize;

table! {
    world (id) {
        id -> Integer,
        randomnumber -> Integer,
    }
}

table! {
    fortune (id) {
        id -> Integer,
        message -> Text,
    }
}

table! {
    item (id) {
        id -> Integer,
        name -> Text,
        number -> Integer,
    }
}

/// A row of TechEmpower's World.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Queryable, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct World {
    /// From 1 to 10,000.
    pub id: i32,
    /// From 1 to 10,000.
    pub random_number: i32,
}

/// A row of TechEmpower's Fortune.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Serialize)]
pub struct Fortune {
    /// From 1 to 12.
    pub id: i32,
    /// The text, not escaped for HTML.
    pub message: String,
}

/// A row of the table of 100,000 items.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Serialize)]
pub struct Item {
    /// From 1 to the number of rows.
    pub id: i32,
    /// The name, such as `Item 000007`.
    pub name: String,
    /// From 1 to 10,000.
    pub number: i32,
}
