//! Files sent by a form.
//! `cargo run --example upload -p torr-serve`, then `curl -F title=Tea -F photo=@README.md http://127.0.0.1:8080/`, or
//! open the page.

use axum::Router;
use axum::extract::multipart::{Multipart, MultipartError};
use axum::extract::{DefaultBodyLimit, Json};
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;
use serde::Serialize;
use torr_serve::{App, ServeError, Server, Settings};

/// Bytes of all parts together.
const LIMIT: usize = 16 * 1024 * 1024;

const FORM: &str = r#"<!doctype html>
<form method="post" enctype="multipart/form-data">
<input name="title"> <input type="file" name="photo"> <button>Send</button>
</form>"#;

/// What came in one field of the form.
#[derive(Serialize)]
struct Part {
    name: String,
    file: Option<String>,
    content_type: Option<String>,
    bytes: usize,
}

async fn receive(mut form: Multipart) -> Result<Json<Vec<Part>>, (StatusCode, String)> {
    let refused = |error: MultipartError| (error.status(), error.body_text());
    let mut parts = Vec::new();
    while let Some(mut field) = form.next_field().await.map_err(refused)? {
        let mut part = Part {
            name: field.name().unwrap_or_default().into(),
            // The client's name for it: to be shown, never to be used as a path.
            file: field.file_name().map(Into::into),
            content_type: field.content_type().map(Into::into),
            bytes: 0,
        };
        // Here a real service would write the piece to where it belongs.
        while let Some(piece) = field.chunk().await.map_err(refused)? {
            part.bytes += piece.len();
        }
        parts.push(part);
    }
    Ok(Json(parts))
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    // axum's own limit is 2 MB. The server has none for bodies that come as they are read, unless it is set; with one it
    // refuses a body that announces more before it comes.
    let mut settings = Settings::default();
    settings.max_streamed_body = LIMIT as u64;
    let router =
        Router::new().route("/", get(|| async { Html(FORM) }).post(receive)).layer(DefaultBodyLimit::max(LIMIT));
    let server = Server::new(App::new().router(router)).settings(settings).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
