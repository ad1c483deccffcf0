//! By SeaORM, as its documentation has it: `find_by_id`, and `update` of active models in a transaction.

use crate::rows::{self, Count, Failure, item_id, random_number, to_write};
use axum::extract::{Query, State};
use axum::routing::get;
use axum::{Json, Router};
use sea_orm::{
    ActiveModelTrait, ConnectOptions, Database, DatabaseConnection, DbErr, EntityTrait, Set, TransactionTrait,
};
use sqlx::sqlite::SqliteSynchronous;

mod item {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, serde::Serialize)]
    #[sea_orm(table_name = "item")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        pub name: String,
        pub number: i32,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// The routes for the database of this URL. A connection is not tested before it is used.
pub async fn router(url: &str, connections: u32) -> Result<Router, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.max_connections(connections).test_before_acquire(false).sqlx_logging(false);
    options.map_sqlx_sqlite_opts(|options| options.synchronous(SqliteSynchronous::Normal));
    let database = Database::connect(options).await?;
    // SQLite gives a column the name that it was made with, PostgreSQL has made that small.
    let worlds = if url.starts_with("postgres") { folded::router() } else { declared::router() };
    Ok(worlds.route("/db/model", get(item)).with_state(database))
}

async fn item(State(database): State<DatabaseConnection>) -> Result<Json<item::Model>, Failure> {
    let item = item::Entity::find_by_id(item_id()).one(&database).await?;
    Ok(Json(item.ok_or("no such item")?))
}

/// World, by the name of its column.
macro_rules! worlds {
    ($module:ident, $column:literal) => {
        mod $module {
            use super::*;

            mod world {
                use sea_orm::entity::prelude::*;

                #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
                #[sea_orm(table_name = "world")]
                pub struct Model {
                    #[sea_orm(primary_key, auto_increment = false)]
                    pub id: i32,
                    #[sea_orm(column_name = $column)]
                    pub random_number: i32,
                }

                #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
                pub enum Relation {}

                impl ActiveModelBehavior for ActiveModel {}
            }

            pub fn router() -> Router<DatabaseConnection> {
                Router::new().route("/queries/model", get(queries)).route("/updates/model", get(updates))
            }

            async fn queries(
                State(database): State<DatabaseConnection>,
                count: Query<Count>,
            ) -> Result<Json<Vec<rows::World>>, Failure> {
                let mut worlds = Vec::new();
                for id in count.ids() {
                    let world = world::Entity::find_by_id(id).one(&database).await?.ok_or("no such world")?;
                    worlds.push(rows::World { id: world.id, random_number: world.random_number });
                }
                Ok(Json(worlds))
            }

            async fn updates(
                State(database): State<DatabaseConnection>,
                count: Query<Count>,
            ) -> Result<Json<Vec<rows::World>>, Failure> {
                let mut worlds = Vec::new();
                for id in count.ids() {
                    let world = world::Entity::find_by_id(id).one(&database).await?.ok_or("no such world")?;
                    worlds.push(rows::World { id: world.id, random_number: random_number() });
                }
                let transaction = database.begin().await?;
                for row in to_write(&worlds) {
                    let world = world::Model { id: row.id, random_number: 0 };
                    let mut world = world::ActiveModel::from(world);
                    world.random_number = Set(row.random_number);
                    world.update(&transaction).await?;
                }
                transaction.commit().await?;
                Ok(Json(worlds))
            }
        }
    };
}

worlds!(folded, "randomnumber");
worlds!(declared, "randomNumber");
