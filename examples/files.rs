//! Files, ready-compressed ones too, and a single-page application.
//! `cargo run --example files -p torr-serve [ADDRESS [FOLDER]]`, then `curl -i http://127.0.0.1:8080/any/page` and
//! `curl -i -r 0-14 http://127.0.0.1:8080/assets/hello.js`.

use axum::Router;
use axum::http::{HeaderValue, StatusCode, header};
use axum::routing::any;
use std::path::PathBuf;
use torr_serve::{App, ServeError, Server};
use tower_http::services::{ServeDir, ServeFile};
use tower_http::set_header::SetResponseHeader;

/// Files with what caches have to know: for how long, and that there are several forms.
fn cached<S>(files: S, how: &'static str) -> SetResponseHeader<SetResponseHeader<S, HeaderValue>, HeaderValue> {
    let how = (header::CACHE_CONTROL, HeaderValue::from_static(how));
    let forms = (header::VARY, HeaderValue::from_static("accept-encoding"));
    let files = SetResponseHeader::if_not_present(files, how.0, how.1);
    SetResponseHeader::if_not_present(files, forms.0, forms.1)
}

fn main() -> Result<(), ServeError> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or("127.0.0.1:8080".into());
    let folder = PathBuf::from(arguments.next().unwrap_or("examples/site".into()));
    // Where `x.js.br` or `x.js.gz` lies beside `x.js`, it is sent to those who understand it. Ranges, content types and
    // `If-Modified-Since` need no setting.
    let assets = ServeDir::new(folder.join("assets")).precompressed_br().precompressed_gzip();
    // Any other path is a page that the script in index.html draws.
    let pages = ServeDir::new(&folder).precompressed_br().precompressed_gzip();
    let pages = pages.fallback(ServeFile::new(folder.join("index.html")));
    let router = Router::new()
        .nest_service("/assets", cached(assets, "public, max-age=86400"))
        .route("/api/{*rest}", any(|| async { (StatusCode::NOT_FOUND, "the API has no such path\n") }))
        .fallback_service(cached(pages, "no-cache"));
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
