//! Handlers that compute or block: once they are noticed, they no longer hold up the other connections of their worker.

use crate::router::http2;
use crate::support::{Running, warnings};
use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle};
use torr_serve::{App, Response, Server, Settings};
use torr_test_support::{PATIENCE, client, wait_until};

/// The time for which handlers compute until their route is noticed, many times the threshold. Each one computes that much longer
/// than the one before, up to the limit: what the worker has waited for a CPU since its last tick does not count, and on a machine
/// that is busy this can be all of a short time.
const LONG: Duration = Duration::from_millis(60);
const LONGEST: Duration = Duration::from_millis(900);

/// What the handlers of a test that compute wait for.
#[derive(Default)]
struct Work {
    /// Computes for multiples of [`LONG`] as long as this is unset.
    is_known: AtomicBool,
    /// The number of handlers that have done so.
    long: AtomicU32,
    /// The number of handlers that have begun to compute since then.
    begun: AtomicUsize,
    /// Lets them end.
    is_over: AtomicBool,
}

impl Work {
    /// Holds its thread until [`Work::is_over`]. Returns whether that was so in time.
    fn compute(&self, pause: impl Fn()) -> &'static str {
        let begin = Instant::now();
        if !self.is_known.load(Ordering::SeqCst) {
            let time = LONG.saturating_mul(self.long.fetch_add(1, Ordering::SeqCst) + 1).min(LONGEST);
            while begin.elapsed() < time {
                pause();
            }
            return "long";
        }
        self.begun.fetch_add(1, Ordering::SeqCst);
        while !self.is_over.load(Ordering::SeqCst) {
            if begin.elapsed() > PATIENCE / 2 {
                return "nothing else was served";
            }
            pause();
        }
        "computed"
    }

    /// Requests a path until its requests are moved.
    fn teach(&self, server: &Running, path: &str) {
        self.is_known.store(false, Ordering::SeqCst);
        let before = metric(server, "torr_handler_moved_total");
        let mut client = server.client();
        wait_until("a route that computes to be moved", || {
            assert_eq!(client.get(path).status, 200);
            (metric(server, "torr_handler_moved_total") > before).then_some(())
        });
        self.is_known.store(true, Ordering::SeqCst);
        self.is_over.store(false, Ordering::SeqCst);
        self.begun.store(0, Ordering::SeqCst);
    }

    fn wait_for(&self, handlers: usize) {
        wait_until("handlers to compute", || (self.begun.load(Ordering::SeqCst) == handlers).then_some(()));
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

fn metric(server: &Running, name: &str) -> u64 {
    let response = server.client().get("/metrics");
    let line = response.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    line.unwrap_or_else(|| panic!("no {name} in {response:?}"))
}

/// Handlers that compute in a loop, block, and compute after they have waited, beside a short one.
fn router(work: &Arc<Work>) -> Router {
    let [spinning, sleeping, waiting] = [(); 3].map(|()| Arc::clone(work));
    Router::new()
        .route("/spin", get(async move || spinning.compute(std::hint::spin_loop)))
        .route("/sleep", get(async move || sleeping.compute(|| thread::sleep(Duration::from_millis(1)))))
        .route(
            "/later/{id}",
            get(async move || {
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_millis(1)).await;
                waiting.compute(std::hint::spin_loop)
            }),
        )
        .route("/short", get(async || "short"))
        .route("/echo", post(async |body: Bytes| body))
}

fn app(work: &Arc<Work>) -> App {
    App::new().metrics("/metrics").get("/controller", |_| Response::text("controller")).router(router(work))
}

#[test]
fn the_only_worker_serves_others_while_a_handler_computes() {
    for path in ["/spin", "/sleep", "/later/7"] {
        let work = Arc::default();
        let server = Running::start(app(&work));
        work.teach(&server, path);
        let (mut computing, mut other) = (server.client(), server.client());
        computing.send(client::get(path));
        work.wait_for(1);
        for (path, text) in [("/short", "short"), ("/controller", "controller")] {
            assert_eq!(other.get(path).text(), text);
        }
        other.send(client::post("/echo", "content"));
        assert_eq!(other.response().text(), "content");
        work.end();
        assert_eq!(computing.response().text(), "computed", "{path}");
        assert!(metric(&server, "torr_handler_stalls_total") >= 2, "{path}");
        assert_eq!(computing.get("/short").text(), "short", "the connection is kept alive");
    }
}

#[test]
fn the_streams_of_one_connection_compute_in_parallel() {
    const STREAMS: usize = 8;
    let work = Arc::default();
    let server = Running::start_with(app(&work), |settings| settings.blocking_threads = STREAMS);
    let http2 = http2::Client::connect(server.address);
    let before = metric(&server, "torr_handler_moved_total");
    wait_until("a stream's route to be moved", || {
        assert_eq!(http2.get("/spin").response().text(), "long");
        (metric(&server, "torr_handler_moved_total") > before).then_some(())
    });
    work.is_known.store(true, Ordering::SeqCst);
    let begin = |_| http2.begin(http2::get("/spin").map(drop), true).0;
    let responses: Vec<_> = (0..STREAMS).map(begin).collect();
    // None of them ends before all have begun. Waiting drives the connection.
    http2.wait(async {
        while work.begun.load(Ordering::SeqCst) < STREAMS {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    assert_eq!(http2.get("/short").response().text(), "short");
    work.end();
    for response in responses {
        let mut body = http2.wait(response).expect("the stream is not reset").into_body();
        let text = http2.wait(body.data()).expect("there is content").expect("the stream is not reset");
        assert_eq!(text, "computed");
    }
}

#[test]
fn responses_keep_the_order_of_pipelined_requests() {
    let work = Arc::default();
    let server = Running::start(app(&work));
    work.teach(&server, "/spin");
    let mut client = server.client();
    client.send(client::get("/spin") + &client::get("/short") + &client::get("/spin"));
    work.wait_for(1);
    work.end();
    for text in ["computed", "short", "computed"] {
        assert_eq!(client.response().text(), text);
    }
}

#[test]
fn a_named_path_is_moved_from_the_first_request_on() {
    let work = Arc::<Work>::default();
    work.is_known.store(true, Ordering::SeqCst);
    let app = app(&work).computes("/later/{id}").computes("/echo");
    // Nothing is learned, so that only what is named is moved.
    let server = Running::start_with(app, |settings| settings.compute_after = Duration::ZERO);
    let mut client = server.client();
    client.send(client::get("/later/1"));
    work.wait_for(1);
    let mut other = server.client();
    let long = "c".repeat(300_000);
    other.send(client::post("/echo", &long));
    assert_eq!(other.response().text(), long, "content is streamed to the other thread");
    work.end();
    assert_eq!(client.response().text(), "computed");
    assert_eq!(other.get("/short").text(), "short");
    assert_eq!(metric(&server, "torr_handler_moved_total"), 2);
}

#[test]
fn nothing_moves_where_it_is_switched_off_or_handlers_are_short() {
    let work = Arc::default();
    let server = Running::start_with(app(&work), |settings| settings.compute_after = Duration::ZERO);
    let mut client = server.client();
    (0..4).for_each(|_| assert_eq!(client.get("/spin").text(), "long"));
    assert_eq!(metric(&server, "torr_handler_moved_total") + metric(&server, "torr_handler_stalls_total"), 0);

    let server = Running::start(app(&work));
    let mut client = server.client();
    (0..1000).for_each(|_| assert_eq!(client.get("/short").text(), "short"));
    assert_eq!(metric(&server, "torr_handler_moved_total"), 0);
}

#[test]
fn a_route_is_named_once_in_the_log() {
    warnings::listen();
    let work = Arc::<Work>::default();
    let of_controller = Arc::clone(&work);
    let named = Arc::clone(&work);
    let app = App::new()
        .metrics("/metrics")
        .get("/named/controller/{id}", move |_| Response::text(of_controller.compute(std::hint::spin_loop)))
        .router(Router::new().route("/named/{id}/router", get(async move || named.compute(std::hint::spin_loop))));
    let server = Running::start(app);
    let mut client = server.client();
    let moved = || warnings::with("GET /named/*/router blocked its worker ");
    let stays = || warnings::with("GET /named/controller/{id} blocked its worker, and all of its connections, for ");
    wait_until("both to be named", || {
        assert_eq!(client.get("/named/7/router").text(), "long");
        assert_eq!(client.get("/named/controller/7").text(), "long");
        (!moved().is_empty() && !stays().is_empty()).then_some(())
    });
    for id in 8..12 {
        assert_eq!(client.get(&format!("/named/{id}/router")).text(), "long");
        assert_eq!(client.get(&format!("/named/controller/{id}")).text(), "long");
    }
    let (moved, stays) = (moved(), stays());
    assert_eq!((moved.len(), stays.len()), (1, 1), "{moved:?} {stays:?}");
    assert!(moved[0].contains("run on other threads"), "{moved:?}");
    assert!(stays[0].contains("use a blocking handler"), "{stays:?}");
}

#[test]
fn a_panic_on_another_thread_is_a_500_as_on_the_worker() {
    let panics = || async {
        if true {
            panic!("on purpose");
        }
    };
    let app = App::new().metrics("/metrics").router(Router::new().route("/", get(panics)));
    let server = Running::start_with(app.computes("/"), |settings| settings.blocking_threads = 1);
    for n in 1..4 {
        let mut client = server.client();
        let response = client.get("/");
        assert_eq!((response.status, response.field("Connection")), (500, Some("close")), "{response:?}");
        assert_eq!(response.text(), "The handler failed\n");
        client.ends();
        assert_eq!(http2::Client::connect(server.address).get("/").response().status, 500);
        assert_eq!(metric(&server, "torr_handler_panics_total"), 2 * n);
    }
    assert_eq!(metric(&server, "torr_blocking_calls"), 0);
}

#[test]
fn a_moved_handler_is_dropped_when_its_client_leaves() {
    struct Alive(Arc<AtomicUsize>);
    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let alive = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&alive);
    let waits = async move || {
        counted.fetch_add(1, Ordering::SeqCst);
        let _alive = Alive(Arc::clone(&counted));
        pending::<&str>().await
    };
    let router = Router::new().route("/", get(waits)).route("/short", get(async || "short"));
    let server = Running::start(App::new().router(router).computes("/"));
    let count = |n| wait_until("the number of handlers", || (alive.load(Ordering::SeqCst) == n).then_some(()));
    let mut client = server.client();
    client.send(client::get("/"));
    count(1);
    drop(client);
    count(0);
    let http2 = http2::Client::connect(server.address);
    let stream = http2.begin(http2::get("/").map(drop), true);
    // Waiting drives the connection.
    let drive = async |n| {
        while alive.load(Ordering::SeqCst) != n {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    http2.wait(drive(1));
    drop(stream);
    http2.wait(drive(0));
    assert_eq!(http2.get("/short").response().text(), "short", "the connection goes on");
}

#[test]
fn a_stop_waits_for_a_moved_handler() {
    let work = Arc::<Work>::default();
    work.is_known.store(true, Ordering::SeqCst);
    let server = Running::start(app(&work).computes("/spin"));
    let mut client = server.client();
    client.send(client::get("/spin"));
    work.wait_for(1);
    server.stop();
    work.end();
    assert_eq!(client.response().text(), "computed");
    client.ends();
    server.wait().expect("it ends well");
}

#[test]
fn a_moved_handler_has_the_runtime_of_the_caller() {
    let where_it_runs = async || {
        let timer = tokio::time::timeout(PATIENCE, tokio::spawn(async { thread::current().name().map(str::to_owned) }));
        let spawned = timer.await.expect("it is driven").expect("it does not panic");
        tokio::time::sleep(Duration::from_millis(1)).await;
        format!("{} {:?}", Handle::current().id(), spawned)
    };
    let router = Router::new().route("/moved", get(where_it_runs)).route("/stays", get(where_it_runs));
    let outer = Builder::new_multi_thread().worker_threads(1).thread_name("outer").enable_all().build();
    let outer = outer.expect("it starts");
    let mut settings = Settings::default();
    settings.workers = 1;
    let app = App::new().metrics("/metrics").router(router).computes("/moved");
    let bound = Server::new(app).settings(settings).runtime(outer.handle().clone()).bind("127.0.0.1:0");
    let server = Running::of(bound.expect("a port is free"));
    let mut client = server.client();
    let expected = format!("{} {:?}", outer.handle().id(), Some("outer"));
    assert_eq!(client.get("/moved").text(), expected);
    assert_eq!(client.get("/stays").text(), expected);
    assert_eq!(metric(&server, "torr_handler_moved_total"), 1);
}

#[test]
fn a_request_for_which_there_is_no_room_stays_on_its_worker() {
    let work = Arc::<Work>::default();
    work.is_known.store(true, Ordering::SeqCst);
    let app = app(&work).computes("/spin").computes("/short");
    let server = Running::start_with(app, |settings| (settings.blocking_threads, settings.blocking_queue) = (1, 0));
    let mut computing = server.client();
    computing.send(client::get("/spin"));
    work.wait_for(1);
    assert_eq!(server.client().get("/short").text(), "short");
    assert_eq!(metric(&server, "torr_handler_moved_total"), 1);
    work.end();
    assert_eq!(computing.response().text(), "computed");
}

#[test]
fn handlers_that_wait_do_not_keep_others_from_beginning() {
    let (begun, end) = (Arc::<AtomicUsize>::default(), Arc::new(tokio::sync::Semaphore::new(0)));
    let (counted, ended) = (Arc::clone(&begun), Arc::clone(&end));
    let waits = async move || {
        counted.fetch_add(1, Ordering::SeqCst);
        let _permit = ended.acquire().await.expect("it is never closed");
        "waited"
    };
    let app = App::new().router(Router::new().route("/", get(waits))).computes("/");
    let server = Running::start_with(app, |settings| settings.blocking_threads = 2);
    let mut clients: Vec<_> = (0..20).map(|_| server.client()).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.send(client::get("/"));
        // One after another, so that no request is queued before it is known that those before it wait.
        wait_until("a handler to begin", || (begun.load(Ordering::SeqCst) == n + 1).then_some(()));
    }
    end.add_permits(1);
    clients.iter_mut().for_each(|client| assert_eq!(client.response().text(), "waited"));
}
