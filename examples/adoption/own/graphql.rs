//! async-graphql: queries, mutations and subscriptions over a WebSocket.

use async_graphql::http::GraphiQLSource;
use async_graphql::{Context, Object, Schema, Subscription};
use async_graphql_axum::{GraphQL, GraphQLSubscription};
use axum::Router;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use futures_util::{Stream, stream};
use std::sync::atomic::{AtomicI32, Ordering};

struct Query;

#[Object]
impl Query {
    async fn count(&self, context: &Context<'_>) -> i32 {
        context.data_unchecked::<AtomicI32>().load(Ordering::Relaxed)
    }
}

struct Mutation;

#[Object]
impl Mutation {
    async fn add(&self, context: &Context<'_>, number: i32) -> i32 {
        context.data_unchecked::<AtomicI32>().fetch_add(number, Ordering::Relaxed) + number
    }
}

struct Subscriptions;

#[Subscription]
impl Subscriptions {
    async fn numbers(&self, to: i32) -> impl Stream<Item = i32> {
        stream::iter(1..=to)
    }
}

async fn page() -> impl IntoResponse {
    Html(GraphiQLSource::build().endpoint("/graphql").subscription_endpoint("/ws").finish())
}

#[tokio::main]
async fn main() {
    let schema = Schema::build(Query, Mutation, Subscriptions).data(AtomicI32::new(0)).finish();
    let app = Router::new()
        .route("/graphql", get(page).post_service(GraphQL::new(schema.clone())))
        .route_service("/ws", GraphQLSubscription::new(schema));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
