//! What `bench/router` serves, and the paths of `torr serve` without a database, on actix-web: `actix-peer ADDRESS`, with as
//! many workers as the variable `WORKERS` says, else one.
#![forbid(unsafe_code)]

use actix_web::http::header::{SERVER, X_CONTENT_TYPE_OPTIONS};
use actix_web::middleware::DefaultHeaders;
use actix_web::web::{self, Html, Json};
use actix_web::{App, HttpServer, Responder};
use serde::Serialize;

#[derive(Serialize)]
struct User {
    id: u64,
    name: String,
}

#[derive(Serialize)]
struct Message {
    message: &'static str,
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let app = || {
        let api = web::scope("/api")
            .wrap(DefaultHeaders::new().add((X_CONTENT_TYPE_OPTIONS, "nosniff")))
            .route("/users/{id}", web::get().to(user))
            .route("/users", web::get().to(async || Json([1, 2, 3].map(named))));
        App::new()
            .wrap(DefaultHeaders::new().add((SERVER, "actix")))
            .route("/", web::get().to(async || Html::new("<p>Hello, world!</p>")))
            .route("/plaintext", web::get().to(async || "Hello, World!"))
            .route("/json", web::get().to(async || Json(Message { message: "Hello, World!" })))
            .service(api)
    };
    let workers = std::env::var("WORKERS").ok().and_then(|workers| workers.parse().ok()).unwrap_or(1);
    HttpServer::new(app)
        .workers(workers)
        .backlog(4096)
        .max_connections(100_000)
        .tcp_nodelay(true)
        .bind(address)?
        .run()
        .await
}

async fn user(id: web::Path<u64>) -> impl Responder {
    Json(named(id.into_inner()))
}

fn named(id: u64) -> User {
    User { id, name: format!("user {id}") }
}
