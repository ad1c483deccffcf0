//! Responses that several controllers have in common.

use crate::database::Failure;
use serde::Serialize;
use torr_serve::Response;

/// Returns a response with a value as JSON.
pub fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(text) => Response::json(text),
        Err(error) => Response::error(500, format!("{error}\n")),
    }
}

/// Returns the response to a request that the database has failed.
pub fn failed(failure: &Failure) -> Response {
    Response::error(503, format!("the database has failed: {failure}\n"))
}
