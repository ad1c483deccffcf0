//! axum-login: a login that protects a page, on sessions in memory.

use axum::Router;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum_login::{AuthManagerLayerBuilder, AuthSession, AuthUser, AuthnBackend, UserId, login_required};
use std::convert::Infallible;
use tower_sessions::{MemoryStore, SessionManagerLayer};

#[derive(Debug, Clone)]
struct User(String);

impl AuthUser for User {
    type Id = String;

    fn id(&self) -> String {
        self.0.clone()
    }

    fn session_auth_hash(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[derive(Debug, Clone, serde::Deserialize)]
struct Credentials {
    name: String,
    password: String,
}

#[derive(Debug, Clone)]
struct Backend;

impl AuthnBackend for Backend {
    type User = User;
    type Credentials = Credentials;
    type Error = Infallible;

    async fn authenticate(&self, given: Credentials) -> Result<Option<User>, Infallible> {
        Ok((given.password == "secret").then_some(User(given.name)))
    }

    async fn get_user(&self, id: &UserId<Self>) -> Result<Option<User>, Infallible> {
        Ok(Some(User(id.clone())))
    }
}

async fn login(mut session: AuthSession<Backend>, Query(given): Query<Credentials>) -> (StatusCode, String) {
    match session.authenticate(given).await {
        Ok(Some(user)) => match session.login(&user).await {
            Ok(()) => (StatusCode::OK, format!("welcome, {}", user.0)),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        },
        _ => (StatusCode::UNAUTHORIZED, "wrong password".to_owned()),
    }
}

async fn page(session: AuthSession<Backend>) -> String {
    format!("for {} only", session.user.map(|user| user.0).unwrap_or_default())
}

#[tokio::main]
async fn main() {
    let sessions = SessionManagerLayer::new(MemoryStore::default()).with_secure(false);
    let app = Router::new()
        .route("/", get(page))
        .route_layer(login_required!(Backend, login_url = "/login"))
        .route("/login", post(login).get(|| async { "log in" }))
        .layer(AuthManagerLayerBuilder::new(Backend, sessions).build());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
