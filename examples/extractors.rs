//! Extractors, one of them our own, and rejections as JSON.
//! `cargo run --example extractors -p torr-serve`, then `curl -i 'http://127.0.0.1:8080/search?words=tea&page=two'` and
//! `curl -H 'Authorization: Bearer 7' http://127.0.0.1:8080/me`.

use axum::Router;
use axum::extract::{ConnectInfo, Form, FromRequest, FromRequestParts, Json, Path, Query, Request};
use axum::http::{HeaderMap, StatusCode, header, request::Parts};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::Display;
use std::net::SocketAddr;
use torr_serve::{App, ServeError, Server};

/// Why a request was not understood.
struct Problem(StatusCode, String);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.0;
        (status, Json(json!({ "status": status.as_u16(), "problem": self.1 }))).into_response()
    }
}

fn problem(rejection: impl IntoResponse + Display) -> Problem {
    let why = rejection.to_string();
    Problem(rejection.into_response().status(), why)
}

/// Any other extractor, with its rejection as a [`Problem`].
struct Explained<E>(E);

impl<S: Sync, E: FromRequestParts<S, Rejection: Display>> FromRequestParts<S> for Explained<E> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        E::from_request_parts(parts, state).await.map(Self).map_err(problem)
    }
}

impl<S: Sync, E: FromRequest<S, Rejection: Display>> FromRequest<S> for Explained<E> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        E::from_request(request, state).await.map(Self).map_err(problem)
    }
}

/// Who asks, by `Authorization: Bearer NUMBER`.
struct User(u64);

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let value = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let number = value.and_then(|value| value.strip_prefix("Bearer ")?.parse().ok());
        number.map(Self).ok_or_else(|| Problem(StatusCode::UNAUTHORIZED, "a bearer token is needed".into()))
    }
}

#[derive(Deserialize, Serialize)]
struct Search {
    words: String,
    #[serde(default)]
    page: u32,
}

async fn search(Explained(Query(search)): Explained<Query<Search>>) -> Json<Search> {
    Json(search)
}

async fn form(Explained(Form(search)): Explained<Form<Search>>) -> Json<Search> {
    Json(search)
}

async fn product(Explained(Json(factors)): Explained<Json<[i32; 2]>>) -> String {
    factors.map(i64::from).iter().product::<i64>().to_string()
}

async fn agent(headers: HeaderMap) -> String {
    headers.get(header::USER_AGENT).map_or("unknown".into(), |agent| String::from_utf8_lossy(agent.as_bytes()).into())
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let router = Router::new()
        .route(
            "/half/{number}",
            get(|Explained(Path(number)): Explained<Path<u32>>| async move { format!("{}", number / 2) }),
        )
        .route("/search", get(search))
        .route("/product", post(product))
        .route("/form", post(form))
        .route("/agent", get(agent))
        .route("/me", get(|User(number): User| async move { format!("you are user {number}") }))
        .route("/peer", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }));
    let app = App::new().router(router).peer_as(ConnectInfo::<SocketAddr>);
    let server = Server::new(app).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
