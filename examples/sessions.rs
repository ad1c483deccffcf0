//! Sessions in memory, with login and logout.
//! `cargo run --example sessions -p torr-serve`, then `curl -i -c jar -d name=ann http://127.0.0.1:8080/login` and,
//! several times, `curl -b jar http://127.0.0.1:8080/me`.

use axum::Router;
use axum::extract::Form;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use torr_serve::{App, ServeError, Server};
use tower_sessions::cookie::{SameSite, time::Duration};
use tower_sessions::{Expiry, MemoryStore, Session, SessionManagerLayer, session};

#[derive(Deserialize)]
struct Login {
    name: String,
}

enum Failure {
    NotLoggedIn,
    Session(session::Error),
}

impl From<session::Error> for Failure {
    fn from(error: session::Error) -> Self {
        Self::Session(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::NotLoggedIn => (StatusCode::UNAUTHORIZED, "log in first\n").into_response(),
            Self::Session(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        }
    }
}

/// Here a real service would check a password.
async fn login(session: Session, Form(login): Form<Login>) -> Result<String, Failure> {
    // A new id, so that no attacker can plant one on a client before it logs in.
    session.cycle_id().await?;
    session.insert("name", &login.name).await?;
    session.insert("visits", 0).await?;
    Ok(format!("welcome, {}\n", login.name))
}

async fn me(session: Session) -> Result<String, Failure> {
    let name: String = session.get("name").await?.ok_or(Failure::NotLoggedIn)?;
    let visits = session.get::<u64>("visits").await?.unwrap_or_default() + 1;
    session.insert("visits", visits).await?;
    Ok(format!("{name}, visit {visits}\n"))
}

async fn logout(session: Session) -> Result<StatusCode, Failure> {
    session.flush().await?;
    Ok(StatusCode::NO_CONTENT)
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let sessions = SessionManagerLayer::new(MemoryStore::default())
        .with_name("session")
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        // This example speaks plain HTTP. Behind TLS leave this out: then the cookie is `Secure`.
        .with_secure(false)
        .with_expiry(Expiry::OnInactivity(Duration::minutes(30)));
    let router =
        Router::new().route("/login", post(login)).route("/me", get(me)).route("/logout", post(logout)).layer(sessions);
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
