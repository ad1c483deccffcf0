//! Pages by maud.

use axum::Router;
use axum::extract::{Path, Query};
use axum::routing::get;
use maud::{DOCTYPE, Markup, html};
use std::collections::BTreeMap;

fn page(title: &str, content: Markup) -> Markup {
    html! { (DOCTYPE) html { head { title { (title) } } body { h1 { (title) } (content) } } }
}

async fn greeting(Path(name): Path<String>, Query(more): Query<BTreeMap<String, String>>) -> Markup {
    page("Greeting", html! { p { "Hello, " (name) "!" } ul { @for (key, value) in &more { li { (key) ": " (value) } } } })
}

#[tokio::main]
async fn main() {
    let app = Router::new().route("/hello/{name}", get(greeting));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
