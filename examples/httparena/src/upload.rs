//! `/upload`: the number of bytes received.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::routing::post;
use http_body_util::BodyExt;

/// Counts the content piece by piece, and keeps none of it.
async fn count(request: Request) -> Result<String, StatusCode> {
    let (mut content, mut bytes) = (request.into_body(), 0);
    while let Some(frame) = content.frame().await {
        // The client's mistake: its content ended early, or its framing is wrong.
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        bytes += frame.data_ref().map_or(0, |piece| piece.len());
    }
    Ok(bytes.to_string())
}

/// Returns the route.
pub fn router() -> Router {
    Router::new().route("/upload", post(count))
}
