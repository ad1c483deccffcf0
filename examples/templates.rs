//! Pages from templates, with what visitors write made harmless.
//! `cargo run --example templates -p torr-serve`, then `curl -d 'name=Eve&words=<script>' http://127.0.0.1:8080/` and
//! `curl http://127.0.0.1:8080/`.

use axum::Router;
use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::response::{Html, Redirect};
use axum::routing::get;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};
use torr_serve::{App, ServeError, Server};

const LAYOUT: &str = "<!doctype html>
<title>{% block title %}{% endblock %}</title>
{% block content %}{% endblock %}
";

const BOOK: &str = r#"{% extends "layout.html" %}
{% block title %}{{ entries | length }} entries{% endblock %}
{% block content %}
{% for entry in entries %}<p><b>{{ entry.name }}</b>: {{ entry.words }}</p>
{% else %}<p>Nobody has been here.</p>
{% endfor %}
<form method="post"><input name="name"><input name="words"><button>Write</button></form>
{% endblock %}"#;

#[derive(Deserialize, Serialize)]
struct Entry {
    name: String,
    words: String,
}

struct Book {
    templates: Environment<'static>,
    entries: Mutex<Vec<Entry>>,
}

async fn show(State(book): State<Arc<Book>>) -> Result<Html<String>, (StatusCode, String)> {
    let entries = book.entries.lock().unwrap_or_else(PoisonError::into_inner);
    let page =
        book.templates.get_template("book.html").and_then(|page| page.render(context! { entries => Serde(&*entries) }));
    page.map(Html).map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

async fn write(State(book): State<Arc<Book>>, Form(entry): Form<Entry>) -> Redirect {
    book.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    Redirect::to("/")
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let mut templates = Environment::new();
    // Names that end with `.html` turn on escaping.
    for (name, source) in [("layout.html", LAYOUT), ("book.html", BOOK)] {
        templates.add_template(name, source).expect("the templates above are valid");
    }
    let book = Book { templates, entries: Mutex::default() };
    let router = Router::new().route("/", get(show).post(write)).with_state(Arc::new(book));
    let server = Server::new(App::new().router(router)).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
