//! A database behind a router and behind a controller: SQLite, called on threads that may block.
//! `cargo run --example database -p torr-serve [ADDRESS [FILE]]`, then
//! `curl -H 'Content-Type: application/json' -d '{"text": "buy tea"}' http://127.0.0.1:8080/notes` and
//! `curl http://127.0.0.1:8080/notes/1`.

use axum::extract::{Json, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{BoxError, Router};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};
use torr_serve::{App, Server};

/// A handle to the database that all workers share.
#[derive(Clone)]
struct Database(Arc<Mutex<Connection>>);

impl Database {
    fn open(file: &str) -> rusqlite::Result<Self> {
        let connection = Connection::open(file)?;
        // Readers do not wait for a writer, also of another process.
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)", [])?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Runs a query, and blocks until it is done.
    fn query<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        query(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs a query on a thread of tokio's blocking pool, for handlers that must not block.
    async fn query_on_pool<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let database = self.clone();
        Ok(tokio::task::spawn_blocking(move || database.query(query)).await??)
    }
}

/// The text that clients get where the log has more.
const OUR_FAULT: &str = "it is our fault, try again later\n";

/// A failure of the database. Its cause goes to the log, and not to the client.
struct Failure(BoxError);

impl<E: Into<BoxError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        eprintln!("the database: {}", self.0);
        (StatusCode::INTERNAL_SERVER_ERROR, OUR_FAULT).into_response()
    }
}

#[derive(Deserialize)]
struct NewNote {
    text: String,
}

#[derive(Serialize)]
struct Note {
    id: i64,
    text: String,
}

async fn add(State(database): State<Database>, Json(new): Json<NewNote>) -> Result<impl IntoResponse, Failure> {
    let insert = "INSERT INTO notes (text) VALUES (?1) RETURNING id, text";
    let note = |row: &rusqlite::Row<'_>| Ok(Note { id: row.get(0)?, text: row.get(1)? });
    let added = database.query_on_pool(move |connection| connection.query_row(insert, [new.text], note)).await?;
    Ok((StatusCode::CREATED, Json(added)))
}

async fn show(State(database): State<Database>, Path(id): Path<i64>) -> Result<Response, Failure> {
    let select = "SELECT text FROM notes WHERE id = ?1";
    let find = move |connection: &Connection| connection.query_row(select, [id], |row| row.get(0)).optional();
    Ok(match database.query_on_pool(find).await? {
        Some(text) => Json(Note { id, text }).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    })
}

/// A simple controller that uses the database too, on a thread of the server's pool.
fn count(database: &Database) -> torr_serve::Response {
    let select = "SELECT count(*) FROM notes";
    match database.query(|connection| connection.query_row(select, [], |row| row.get::<_, i64>(0))) {
        Ok(count) => torr_serve::Response::text(format!("{count} notes\n")),
        Err(error) => {
            eprintln!("the database: {error}");
            torr_serve::Response::error(500, OUR_FAULT)
        }
    }
}

fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or("127.0.0.1:8080".into());
    let database = Database::open(&arguments.next().unwrap_or("notes.db".into()))?;
    let router = Router::new().route("/notes", post(add)).route("/notes/{id}", get(show)).with_state(database.clone());
    let app = App::new().get_blocking("/count", move |_| count(&database)).router(router);
    let server = Server::new(app).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    Ok(server.run_until_signal()?)
}
