//! The four servers, one for each port, and their common end.

use crate::config::Config;
use crate::database::Database;
use crate::item::Item;
use crate::{crud, echo, files, item, json, range, sum, upload};
use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, Version};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use std::thread;
use torr_serve::http::Method;
use torr_serve::{App, Bound, ServeError, Server, Settings, Stop, TlsSettings};

/// Serves on all ports until SIGTERM or SIGINT. Ports with TLS need the certificate, and are left out without one.
///
/// # Errors
/// In words, where a file, a port or the database's URL cannot be used.
pub fn run(config: &Config) -> Result<(), String> {
    let items: Arc<[Item]> = item::read(&config.dataset)?.into();
    let database = config.database.as_deref().map(|url| Database::new(url, config.connections)).transpose()?;
    let first = bind(config, "HTTP/1.1", config.http, http1(config, &items, database), Settings::default())?;
    let first = first.watch_signals().map_err(|error| error.to_string())?;
    let mut others = vec![bind(config, "h2c", config.h2c, h2c(&items), Settings::default())?];
    if config.certificate.exists() {
        let app = App::new().router(json::router(Arc::clone(&items)));
        others.push(bind(config, "HTTP/1.1 over TLS", config.https, app, with_tls(config, false))?);
        others.push(bind(config, "h2", config.h2, h2(config), with_tls(config, true))?);
    } else {
        eprintln!("torr-httparena: {} does not exist: no port with TLS", config.certificate.display());
    }
    together(first, others).map_err(|error| error.to_string())
}

/// Runs all servers until the first one ends, by a signal or by a failure, or any other one fails.
fn together(first: Bound, others: Vec<Bound>) -> Result<(), ServeError> {
    let stops: Vec<Stop> = others.iter().map(Bound::stop).collect();
    let first_stop = first.stop();
    thread::scope(|scope| {
        let run = |server: Bound| {
            let first = first_stop.clone();
            scope.spawn(move || server.run().inspect_err(|_| first.stop()))
        };
        let others: Vec<_> = others.into_iter().map(run).collect();
        let ended = first.run_until_signal();
        stops.iter().for_each(Stop::stop);
        let others = others.into_iter().map(|other| other.join().unwrap_or(Err(ServeError::Panicked)));
        others.fold(ended, Result::and)
    })
}

fn bind(config: &Config, name: &str, port: u16, app: App, settings: Settings) -> Result<Bound, String> {
    let server = Server::new(app).settings(settings).bind((config.address, port));
    let server = server.map_err(|error| format!("{name} on port {port}: {error}"))?;
    println!("{name}: {}", server.address());
    Ok(server)
}

fn with_tls(config: &Config, http2: bool) -> Settings {
    let mut settings = Settings::default();
    settings.tls = Some(TlsSettings::new(&config.certificate, &config.key));
    settings.http2 = http2;
    settings
}

/// The application of port 8080.
fn http1(config: &Config, items: &Arc<[Item]>, database: Option<Database>) -> App {
    let router = json::router(Arc::clone(items)).merge(upload::router()).merge(echo::router());
    let app = App::new()
        .get("/baseline11", sum::controller)
        .post("/baseline11", sum::controller)
        .get("/pipeline", |_| torr_serve::Response::text("ok"))
        .router(router.merge(files::router(&config.files)));
    let Some(database) = database else {
        return app.get("/async-db", |_| range::without_database());
    };
    let (crud, for_ranges) = (Arc::new(crud::Crud::new(database.clone())), database);
    let (show, change, add) = (Arc::clone(&crud), Arc::clone(&crud), Arc::clone(&crud));
    app.get_async("/async-db", move |request| range::read(for_ranges.clone(), request))
        .get_async("/crud/items", move |request| crud::list(Arc::clone(&crud), request))
        .post_async("/crud/items", move |request| crud::add(Arc::clone(&add), request))
        .get_async("/crud/items/{id}", move |request| crud::show(Arc::clone(&show), request))
        .route_async(Method::PUT, "/crud/items/{id}", move |request| crud::change(Arc::clone(&change), request))
}

/// The application of port 8443.
fn h2(config: &Config) -> App {
    App::new().router(Router::new().route("/baseline2", get(sum::handler)).merge(files::router(&config.files)))
}

/// The application of port 8082.
fn h2c(items: &Arc<[Item]>) -> App {
    let router = Router::new().route("/baseline2", get(sum::handler)).merge(json::router(Arc::clone(items)));
    App::new().router(router.layer(middleware::from_fn(only_http2)))
}

/// Refuses HTTP/1.1, which the rules demand of port 8082.
async fn only_http2(request: Request, next: Next) -> Response {
    match request.version() {
        Version::HTTP_2 => next.run(request).await,
        _ => (StatusCode::BAD_REQUEST, "this port speaks HTTP/2 by prior knowledge\n").into_response(),
    }
}
