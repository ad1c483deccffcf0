//! By sqlx alone. Its queries are prepared and kept by their texts; a request uses one connection.

use crate::fortunes;
use crate::rows::{Count, Failure, Item, World, item_id, random_number, to_write};
use axum::extract::{Query, State};
use axum::response::Html;
use axum::routing::get;
use axum::{Json, Router};
use sqlx::mysql::{MySqlConnection, MySqlPool, MySqlPoolOptions};
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection};

/// The routes for the database of this URL. A connection is not tested before it is used.
pub async fn router(url: &str, connections: u32) -> Result<Router, sqlx::Error> {
    if url.starts_with("postgres") {
        let pool = PgPoolOptions::new().max_connections(connections).test_before_acquire(false);
        return Ok(postgres::router(pool.connect(url).await?));
    }
    if url.starts_with("mysql") {
        let pool = MySqlPoolOptions::new().max_connections(connections).test_before_acquire(false);
        return Ok(mysql::router(pool.connect(url).await?));
    }
    let pool = SqlitePoolOptions::new().max_connections(connections).test_before_acquire(false);
    let options = url.parse::<SqliteConnectOptions>()?.synchronous(SqliteSynchronous::Normal);
    Ok(sqlite::router(pool.connect_with(options).await?))
}

/// The handlers for each database: sqlx is generic over them, but its bounds would be longer than the code.
macro_rules! ways {
    ($module:ident, $pool:ty, $write:path, $placeholder:literal) => {
        mod $module {
            use super::*;

            const WORLD: &str = concat!("SELECT id, randomnumber FROM world WHERE id = ", $placeholder);
            const ITEM: &str = concat!("SELECT id, name, number FROM item WHERE id = ", $placeholder);

            pub fn router(pool: $pool) -> Router {
                Router::new()
                    .route("/db", get(world))
                    .route("/fortunes/raw", get(fortunes))
                    .route("/db/raw", get(item))
                    .route("/queries/raw", get(queries))
                    .route("/updates/raw", get(updates))
                    .with_state(pool)
            }

            async fn item(State(pool): State<$pool>) -> Result<Json<Item>, Failure> {
                let (id, name, number) = sqlx::query_as(ITEM).bind(item_id()).fetch_one(&pool).await?;
                Ok(Json(Item { id, name, number }))
            }

            async fn world(State(pool): State<$pool>) -> Result<Json<World>, Failure> {
                let (id, random_number) = sqlx::query_as(WORLD).bind(random_number()).fetch_one(&pool).await?;
                Ok(Json(World { id, random_number }))
            }

            async fn fortunes(State(pool): State<$pool>) -> Result<Html<String>, Failure> {
                let rows = sqlx::query_as("SELECT id, message FROM fortune").fetch_all(&pool).await?;
                Ok(Html(fortunes::page(rows)))
            }

            async fn queries(State(pool): State<$pool>, count: Query<Count>) -> Result<Json<Vec<World>>, Failure> {
                let mut connection = pool.acquire().await?;
                let mut worlds = Vec::new();
                for id in count.ids() {
                    let (id, random_number) = sqlx::query_as(WORLD).bind(id).fetch_one(&mut *connection).await?;
                    worlds.push(World { id, random_number });
                }
                Ok(Json(worlds))
            }

            async fn updates(State(pool): State<$pool>, count: Query<Count>) -> Result<Json<Vec<World>>, Failure> {
                let mut connection = pool.acquire().await?;
                let mut worlds = Vec::new();
                for id in count.ids() {
                    let (id, _): (i32, i32) = sqlx::query_as(WORLD).bind(id).fetch_one(&mut *connection).await?;
                    worlds.push(World { id, random_number: random_number() });
                }
                $write(&mut connection, to_write(&worlds)).await?;
                Ok(Json(worlds))
            }
        }
    };
}

ways!(postgres, PgPool, write_to_postgres, "$1");
ways!(mysql, MySqlPool, write_to_mysql, "?");
ways!(sqlite, SqlitePool, write_to_sqlite, "?");

/// All rows in one statement, locked in the order of their ids.
async fn write_to_postgres(connection: &mut PgConnection, rows: Vec<World>) -> Result<(), sqlx::Error> {
    let (ids, numbers): (Vec<i32>, Vec<i32>) = rows.iter().map(|row| (row.id, row.random_number)).unzip();
    let sql = "UPDATE world SET randomnumber = new.number FROM (\
        SELECT world.id, given.number FROM unnest($1::int4[], $2::int4[]) AS given (id, number) \
        JOIN world ON world.id = given.id ORDER BY world.id FOR UPDATE OF world) AS new WHERE world.id = new.id";
    sqlx::query(sql).bind(ids).bind(numbers).execute(connection).await.map(drop)
}

/// All rows in one statement, of which there is one for each number of rows.
async fn write_to_mysql(connection: &mut MySqlConnection, rows: Vec<World>) -> Result<(), sqlx::Error> {
    let (cases, marks) = (" WHEN ? THEN ?".repeat(rows.len()), vec!["?"; rows.len()].join(", "));
    let sql = format!("UPDATE world SET randomnumber = CASE id{cases} ELSE randomnumber END WHERE id IN ({marks})");
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for row in &rows {
        query = query.bind(row.id).bind(row.random_number);
    }
    for row in &rows {
        query = query.bind(row.id);
    }
    query.execute(connection).await.map(drop)
}

/// Row by row, in one transaction: there is no other writer to wait for.
async fn write_to_sqlite(connection: &mut SqliteConnection, rows: Vec<World>) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    for row in rows {
        let update = sqlx::query("UPDATE world SET randomnumber = ? WHERE id = ?");
        update.bind(row.random_number).bind(row.id).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}
