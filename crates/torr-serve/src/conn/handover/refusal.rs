//! Responses to requests whose content does not come to its end.

use crate::message::body_error::BodyError;
use crate::message::response::Response;

/// Returns the response to a request whose content failed.
pub(super) fn refusal(error: BodyError) -> Response {
    match error {
        BodyError::TooLarge => Response::error(413, "The body is too large\n").closing(),
        BodyError::TimedOut => Response::error(408, "The request took too long\n").closing(),
        _ => Response::error(400, "The body is malformed\n").closing(),
    }
}
