//! Counters and a histogram by metrics, exported as Prometheus text.

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusBuilder;

async fn count(request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("none".to_owned(), |path| path.as_str().to_owned());
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    metrics::counter!("requests_total", "path" => path, "status" => status).increment(1);
    response
}

#[tokio::main]
async fn main() {
    let handle = PrometheusBuilder::new().install_recorder().unwrap();
    let app = Router::new()
        .route("/", get(|| async { "counted" }))
        .layer(from_fn(count))
        .route("/metrics", get(move || std::future::ready(handle.render())));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
