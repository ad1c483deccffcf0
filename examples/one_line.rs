//! An axum program, with torr-serve instead of `axum::serve`: only the last line of `main` names it.
//! `cargo run --example one_line -p torr-serve`, then `curl http://127.0.0.1:8080/`.

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use std::net::SocketAddr;
use tokio::net::TcpListener;

async fn greet(ConnectInfo(client): ConnectInfo<SocketAddr>) -> String {
    format!("Hello, {}!\n", client.ip())
}

/// Handlers run in `main`'s runtime, as under axum.
async fn later() -> &'static str {
    let task = tokio::spawn(async { "from a task of main's runtime\n" });
    task.await.expect("the task does not panic")
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let app = Router::new().route("/", get(greet)).route("/later", get(later));
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/", listener.local_addr()?);
    // It was: axum::serve(...).await
    torr_serve::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await
}
