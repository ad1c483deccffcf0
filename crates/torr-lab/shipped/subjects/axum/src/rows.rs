//! The rows of responses, the requested ones, and responses to errors.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// A row of TechEmpower's World.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct World {
    pub id: i32,
    pub random_number: i32,
}

/// A row of the table of 100,000.
#[derive(Serialize)]
pub struct Item {
    pub id: i32,
    pub name: String,
    pub number: i32,
}

/// The number of requested rows.
#[derive(Deserialize)]
pub struct Count {
    #[serde(default)]
    queries: String,
}

impl Count {
    /// As many random ids of World.
    pub fn ids(&self) -> impl Iterator<Item = i32> + use<> {
        // What is no number counts as one.
        (0..self.queries.parse::<u16>().unwrap_or(1).clamp(1, 500)).map(|_| random_number())
    }
}

/// From 1 to 10,000: an id of World, or a number that is written into it.
pub fn random_number() -> i32 {
    fastrand::i32(1..=10_000)
}

/// An id of Item.
pub fn item_id() -> i32 {
    fastrand::i32(1..=100_000)
}

/// What is written: each row once, and in the order in which all write, so that no two writers wait for each other.
pub fn to_write(rows: &[World]) -> Vec<World> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| row.id);
    rows.dedup_by_key(|row| row.id);
    rows
}

/// Whatever went wrong.
pub struct Failure(String);

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0).into_response()
    }
}
