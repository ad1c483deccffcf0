#[path = "../src/pages.rs"]
#[allow(dead_code)]
mod pages;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use bytes::Bytes;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
fn main() {
    let mut router = pages::router();
    let mut best = [f64::MAX; 4];
    let text = b"/127.0.0.1:8080";
    for _ in 0..40 {
        let start = Instant::now();
        for _ in 0..20_000 {
            let mut r = Request::new(Body::empty());
            let mut t = Bytes::from(text.to_vec());
            *r.uri_mut() = Uri::from_maybe_shared(t.split_to(1)).unwrap();
            let mut h = HeaderMap::with_capacity(1);
            h.append(HeaderName::from_bytes(b"Host").unwrap(), HeaderValue::from_maybe_shared(t.split_to(14)).unwrap());
            *r.headers_mut() = h;
            std::hint::black_box(&r);
        }
        best[0] = best[0].min(start.elapsed().as_nanos() as f64 / 20_000.0);
        let start = Instant::now();
        for _ in 0..20_000 {
            let r = Request::new(Body::empty());
            let f = tower_service::Service::call(&mut router, r);
            let mut f = pin!(f);
            let Poll::Ready(Ok(resp)) = f.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!() };
            std::hint::black_box(&resp);
        }
        best[1] = best[1].min(start.elapsed().as_nanos() as f64 / 20_000.0);
        let start = Instant::now();
        for _ in 0..20_000 {
            let r = Request::new(Body::empty());
            let f = tower_service::Service::call(&mut router, r);
            let mut f = Box::pin(async move { f.await });
            let Poll::Ready(Ok(resp)) = f.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!() };
            std::hint::black_box(&resp);
        }
        best[2] = best[2].min(start.elapsed().as_nanos() as f64 / 20_000.0);
    }
    println!("build {:.0} ns, router {:.0} ns, boxed {:.0}", best[0], best[1], best[2]);
}
