//! diesel-async: a pool that was made before the server, whose queries block threads of the caller's runtime.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel::sqlite::SqliteConnection;
use diesel_async::RunQueryDsl;
use diesel_async::pooled_connection::AsyncDieselConnectionManager;
use diesel_async::pooled_connection::bb8::Pool;
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;

type Connection = SyncConnectionWrapper<SqliteConnection>;

diesel::table! {
    notes (id) {
        id -> Integer,
        text -> Text,
    }
}

fn fault(error: impl std::fmt::Display) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

async fn list(State(pool): State<Pool<Connection>>) -> Result<Json<Vec<(i32, String)>>, (StatusCode, String)> {
    let mut connection = pool.get().await.map_err(fault)?;
    let rows = notes::table.order(notes::id).load::<(i32, String)>(&mut connection).await.map_err(fault)?;
    Ok(Json(rows))
}

async fn add(State(pool): State<Pool<Connection>>, Path(text): Path<String>) -> Result<String, (StatusCode, String)> {
    let mut connection = pool.get().await.map_err(fault)?;
    let insert = diesel::sql_query("INSERT INTO notes (text) VALUES (?)").bind::<Text, _>(text);
    let count = insert.execute(&mut connection).await.map_err(fault)?;
    Ok(format!("{count} added"))
}

#[tokio::main]
async fn main() {
    let manager = AsyncDieselConnectionManager::<Connection>::new("scratch/notes.db");
    let pool = Pool::builder().max_size(2).build(manager).await.unwrap();
    let mut connection = pool.get().await.unwrap();
    let table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)";
    diesel::sql_query(table).execute(&mut connection).await.unwrap();
    drop(connection);
    let app = Router::new().route("/notes", get(list)).route("/notes/{text}", axum::routing::put(add)).with_state(pool);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
