//! The shapes of applications that programs hand to `axum::serve`, handed to `torr_serve::serve`.

use super::ask_at;
use super::scene::{flavours, free_port, in_time};
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::handler::{Handler, HandlerWithoutStateExt};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, ServiceExt};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use torr_serve::{App, IntoApp, serve};
use tower::util::MapRequestLayer;
use tower::{Layer, Service, service_fn};

/// Routes by what the middleware writes into the path, so that the middleware must run before the router.
fn router() -> Router {
    Router::new().route("/inner", get(|| async { "inner" }))
}

async fn rewrite(mut request: Request, next: Next) -> Response {
    *request.uri_mut() = "/inner".parse().expect("a path");
    next.run(request).await
}

/// A service that a program has written for axum's requests alone.
#[derive(Clone)]
struct Own(Router);

impl Service<Request> for Own {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        <Router as Service<Request>>::poll_ready(&mut self.0, cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let mut router = self.0.clone();
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            parts.uri = "/inner".parse().expect("a path");
            router.call(Request::from_parts(parts, body)).await
        })
    }
}

/// Serves an application and returns the content of the response to `GET /`.
fn said<A: IntoApp<Kind> + Clone, Kind>(app: A) -> String {
    let runtime = flavours().into_iter().next().expect("there is a runtime");
    in_time(&runtime, async {
        let (listener, address) = free_port().await;
        tokio::select! {
            ended = serve(listener, app).into_future() => panic!("it ended: {ended:?}"),
            said = ask_at(address) => said,
        }
    })
}

#[test]
fn middleware_around_the_router_is_served() {
    let rewritten = |mut request: Request| {
        *request.uri_mut() = "/inner".parse().expect("a path");
        request
    };
    assert_eq!(said(from_fn(rewrite).layer(router())), "inner");
    let with_state = |axum::extract::State(_): axum::extract::State<u8>, request, next| rewrite(request, next);
    assert_eq!(said(from_fn_with_state(7u8, with_state).layer(router())), "inner");
    assert_eq!(said(MapRequestLayer::new(rewritten).layer(router())), "inner");
    let made = ServiceExt::<Request>::into_make_service(MapRequestLayer::new(rewritten).layer(router()));
    assert_eq!(said(made), "inner");
    let made = ServiceExt::<Request>::into_make_service_with_connect_info::<SocketAddr>(
        from_fn(|ConnectInfo(_): ConnectInfo<SocketAddr>, request, next| rewrite(request, next)).layer(router()),
    );
    assert_eq!(said(made), "inner");
}

#[test]
fn services_of_axum_requests_are_served() {
    assert_eq!(said(Own(router())), "inner");
    assert_eq!(said(ServiceExt::<Request>::into_make_service(Own(router()))), "inner");
    let echo =
        service_fn(
            |request: Request| async move { Ok::<_, Infallible>(request.uri().path().to_owned().into_response()) },
        );
    assert_eq!(said(echo), "/");
    let streamed = service_fn(|request: http::Request<Body>| async { Ok(Response::new(request.into_body())) });
    assert_eq!(said(streamed), "");
    assert_eq!(said(tower::make::Shared::new(Own(router()))), "inner");
    // A builder takes what the line takes.
    assert_eq!(said_by_app(App::new().router(Own(router()))), "inner");
}

fn said_by_app(app: App) -> String {
    let server = crate::support::Running::start(app);
    server.client().get("/").text().to_owned()
}

#[test]
fn handlers_are_served() {
    let handler = || async { "handler" };
    assert_eq!(said(handler.into_service()), "handler");
    assert_eq!(said(handler.into_make_service()), "handler");
    assert_eq!(said(Handler::<_, ()>::with_state(handler, ())), "handler");
    assert_eq!(said(get(handler)), "handler");
    assert_eq!(said(get(handler).into_make_service_with_connect_info::<SocketAddr>()), "handler");
}
