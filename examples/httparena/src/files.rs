//! `/static/{file}`: files read from disk for each request, in the precompressed form that the client prefers.

use axum::Router;
use std::path::Path;
use tower_http::services::ServeDir;

/// Returns the route to the files of a folder.
pub fn router(folder: &Path) -> Router {
    Router::new().nest_service("/static", ServeDir::new(folder).precompressed_br().precompressed_gzip())
}
