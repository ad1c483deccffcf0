//! The servers that the corpus is put to. The handler of each tells what it saw of a request.

#[path = "../../../crates/torr-serve/tests/library/support/axum_serve.rs"]
mod axum_serve;

use super::exchange::SAW;
use axum::body::Bytes;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum_serve::AxumServe;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self};
use std::time::Duration;
use torr_serve::{App, Server, Settings, Stop};
use torr_test_support::servers::{Nginx, free_port};

/// Torr in this process, which ends with its value.
pub struct Torr {
    pub address: SocketAddr,
    stop: Stop,
    ended: Receiver<()>,
}

impl Torr {
    /// All paths answered by simple controllers.
    pub fn with_controllers() -> Self {
        let methods = [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS];
        let routes = methods.into_iter().flat_map(|method| [(method.clone(), "/"), (method, "/{*rest}")]);
        Self::start(routes.fold(App::new(), |app, (method, path)| {
            app.route(method, path, |request| {
                let (name, value) = saw(request.method(), request.path(), request.query(), request.body().len());
                torr_serve::Response::text("seen\n").header(name, value)
            })
        }))
    }

    /// All paths answered by an axum router.
    pub fn with_router() -> Self {
        Self::start(App::new().router(router()))
    }

    fn start(app: App) -> Self {
        let mut settings = Settings::default();
        settings.workers = 1;
        // The same limit for routers as for handlers.
        settings.max_streamed_body = settings.max_body;
        let bound = Server::new(app).settings(settings).bind("127.0.0.1:0").expect("a port is free");
        let (address, stop) = (bound.address(), bound.stop());
        let (tell, ended) = channel();
        thread::spawn(move || {
            bound.run().expect("it runs until it is stopped");
            // No client may be listening any more.
            let _ = tell.send(());
        });
        Self { address, stop, ended }
    }
}

impl Drop for Torr {
    fn drop(&mut self) {
        self.stop.stop();
        let _ = self.ended.recv_timeout(Duration::from_secs(30));
    }
}

/// hyper as `axum::serve` runs it.
pub fn hyper() -> AxumServe {
    AxumServe::start(router())
}

/// nginx in front of a second server of its own: so it reads bodies, and tells what it would pass on.
pub fn nginx() -> (Nginx, SocketAddr) {
    let back = free_port();
    // A client that has ended its side is to be answered all the same; a long target comes back in one field. What is refused
    // is not to be read for seconds.
    let settings = "proxy_ignore_client_abort on; proxy_buffer_size 32k; proxy_buffers 8 32k; lingering_timeout 50ms";
    let nginx = Nginx::start_beside(
        &format!("{settings}; location / {{ proxy_pass http://127.0.0.1:{back}; }}"),
        &format!(
            "map $content_length $length {{ default $content_length; '' 0; }}\n\
             server {{ listen 127.0.0.1:{back}; client_max_body_size 0;\n\
             add_header {SAW} \"$request_method $request_uri $length\" always; return 200 seen; }}"
        ),
    );
    let address = nginx.address.parse().expect("it is an address");
    (nginx, address)
}

fn router() -> axum::Router {
    axum::Router::new().fallback(response)
}

/// Does what Torr does for simple controllers, as far as methods go.
async fn response(method: Method, uri: Uri, body: Bytes) -> Response {
    match method.as_str() {
        "OPTIONS" if uri.path() == "*" => StatusCode::NO_CONTENT.into_response(),
        "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "PATCH" | "OPTIONS" => {
            ([saw(method.as_str(), uri.path(), uri.query(), body.len())], "seen\n").into_response()
        }
        "TRACE" => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        _ => StatusCode::NOT_IMPLEMENTED.into_response(),
    }
}

fn saw(method: &str, path: &str, query: Option<&str>, length: usize) -> (HeaderName, HeaderValue) {
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let text = format!("{method} {path}{query} {length}");
    let name = HeaderName::from_bytes(SAW.as_bytes()).expect("it is a token");
    (name, HeaderValue::from_bytes(text.as_bytes()).expect("no control character gets here"))
}
