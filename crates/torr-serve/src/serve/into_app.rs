//! The types that `serve` accepts as an application.

use crate::app::App;
use crate::message::request_body::RequestBody;
use crate::server::UNSPECIFIED;
use http::{Request, Response};
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;

/// An application for [`serve`](crate::serve()): an `axum::Router` or another service of `axum::extract::Request`, such as a router
/// under middleware (`from_fn(..).layer(router)`), a service that makes one for a client's address (`into_make_service`,
/// `into_make_service_with_connect_info::<SocketAddr>`), or an [`App`].
///
/// `Kind` tells these apart, and is inferred.
///
/// A router that still needs its state is no application:
/// ```compile_fail,E0277
/// # async fn of_main(listener: tokio::net::TcpListener) {
/// let needs_state = axum::Router::<u32>::new();
/// torr_serve::serve(listener, needs_state);
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`serve` cannot serve `{Self}`",
    label = "not an application",
    note = "a `Router<S>` needs its state first: call `.with_state(state)`, which makes it a `Router<()>`",
    note = "another service must be `Clone + Send + 'static`, take an `axum::extract::Request`, which is an \
            `http::Request<torr_serve::RequestBody>`, respond with an `http::Response`, and have `Error = Infallible`; for a body of \
            another type put `tower::ServiceExt::map_request` before the service, for errors `axum::error_handling::HandleError`",
    note = "`into_make_service_with_connect_info::<T>()` needs `T = SocketAddr`, or `impl Connected<SocketAddr> for T`: \
            `IncomingStream` belongs to `axum::serve`",
    note = "a handler is served by `Router::new().fallback(handler)`"
)]
pub trait IntoApp<Kind> {
    /// Returns the application.
    fn into_app(self) -> App;
}

/// The kind of [`IntoApp`] that is an application already.
#[derive(Debug)]
pub enum Whole {}

/// The kind of [`IntoApp`] that is a service of requests.
#[derive(Debug)]
pub enum OfRequests {}

/// The kind of [`IntoApp`] that makes a service for a client's address.
#[derive(Debug)]
pub enum OfAddresses {}

impl IntoApp<Whole> for App {
    fn into_app(self) -> App {
        self
    }
}

impl<S, B> IntoApp<OfRequests> for S
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: 'static,
    B: http_body::Body + Send + 'static,
{
    fn into_app(self) -> App {
        App::new().router(self)
    }
}

impl<M, S, B> IntoApp<OfAddresses> for M
where
    M: Service<SocketAddr, Response = S, Error = Infallible> + Clone + Send + 'static,
    M::Future: 'static,
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible> + 'static,
    S::Future: 'static,
    B: http_body::Body + Send + 'static,
{
    fn into_app(self) -> App {
        App::new().router(MadeService(self)).peer_as(ClientAddress)
    }
}

/// The address of a request's client, on its way to [`MadeService`].
#[derive(Clone, Copy)]
struct ClientAddress(SocketAddr);

/// A service that is made anew for each request, from the client's address.
#[derive(Clone)]
struct MadeService<M>(M);

impl<M, S, B> Service<Request<RequestBody>> for MadeService<M>
where
    M: Service<SocketAddr, Response = S, Error = Infallible>,
    M::Future: 'static,
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible> + 'static,
{
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<B>, Infallible>>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> Self::Future {
        // Over a Unix socket there is none.
        let address = request.extensions_mut().remove().map_or(UNSPECIFIED, |ClientAddress(address)| address);
        let made = self.0.call(address);
        Box::pin(async move {
            let Ok(mut service) = made.await;
            let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
            service.call(request).await
        })
    }
}
