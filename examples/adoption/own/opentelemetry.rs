//! Spans by tracing and OpenTelemetry, which the program exports to memory and shows itself.

use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use tower_http::trace::TraceLayer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

#[tracing::instrument]
async fn work(number: u32) -> u32 {
    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    number * 2
}

#[tokio::main]
async fn main() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("adoption"));
    tracing_subscriber::registry().with(tracing::level_filters::LevelFilter::INFO).with(layer).init();
    let spans = move || {
        let exporter = exporter.clone();
        async move {
            let spans = exporter.get_finished_spans().unwrap_or_default();
            let names: Vec<_> = spans.iter().map(|span| span.name.to_string()).collect();
            names.join(" ")
        }
    };
    let app = Router::new()
        .route("/double/{number}", get(|Path(number): Path<u32>| async move { work(number).await.to_string() }))
        .layer(TraceLayer::new_for_http().make_span_with(|_: &axum::extract::Request| tracing::info_span!("request")))
        .route("/spans", get(spans));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
