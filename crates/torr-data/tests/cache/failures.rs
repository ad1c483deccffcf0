//! A Redis that stops or does not respond: errors in time, and recovery without help.

use crate::fixture::{Fixture, Tables};
use futures_util::future::{join, join_all};
use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::{Duration, Instant};
use torr_data::{Access, Cache, CacheOptions, DataError, ErrorKind, Side};
use torr_test_support::databases::{Make, Server, runtime};

const HOUR: Duration = Duration::from_secs(3600);

fn gone<T: std::fmt::Debug>(result: Result<T, DataError>) {
    let error = result.expect_err("Redis is gone");
    assert!(matches!(error.kind(), ErrorKind::Lost | ErrorKind::Refused), "{error:?}");
    assert!(error.is_temporary() && error.side() == Side::Network && !error.to_string().contains('\n'), "{error:?}");
}

#[test]
fn redis_goes_and_comes_back() {
    let mut server = Server::start(Make::Redis);
    let mut fixture = Fixture::at(&server, 1);
    fixture.options.connect_timeout = Duration::from_secs(60);
    fixture.options.response_timeout = Duration::from_secs(60);
    let (cache, tables, runtime) = (fixture.open(), Tables::new(), runtime());
    for round in 0..3 {
        runtime.block_on(cache.put("key", &[round], HOUR)).expect("the first question is answered");
        assert_eq!(runtime.block_on(cache.get("key")), Ok(Some(vec![round])));
        runtime.block_on(cache.worlds(&tables.database, Access::Raw, &[1, 2])).expect("they are there");
        assert_eq!(cache.blocking().get("key"), Ok(Some(vec![round])));
        // Commands are sent, but get no response any more.
        redis::cmd("CLIENT").arg("PAUSE").arg(60_000).exec(&mut fixture.outside()).expect("it can be paused");
        let since = Instant::now();
        let queries = join_all((0..50).map(|_| cache.get("key")));
        let (results, ()) = runtime.block_on(join(queries, async { server.kill() }));
        results.into_iter().for_each(gone);
        gone(runtime.block_on(cache.get("key")));
        gone(runtime.block_on(cache.put("key", b"value", HOUR)));
        gone(runtime.block_on(cache.remove("key")));
        gone(runtime.block_on(cache.worlds(&tables.database, Access::Raw, &[1, 2])));
        gone(cache.blocking().get("key"));
        gone(Cache::open(&fixture.url, &fixture.options));
        assert!(since.elapsed() < Duration::from_secs(30), "at once, not by a time-out: {:?}", since.elapsed());
        server.start_again();
        assert_eq!(cache.blocking().get("key"), Ok(None));
    }
}

#[test]
fn a_silent_redis() {
    let server = Server::start(Make::Redis);
    let mut fixture = Fixture::at(&server, 1);
    // Long enough for a machine whose CPUs have other work for a second.
    fixture.options.response_timeout = Duration::from_millis(1500);
    fixture.options.connect_timeout = Duration::from_millis(2500);
    let (cache, tables, runtime) = (fixture.open(), Tables::new(), runtime());
    runtime.block_on(cache.put("key", b"value", HOUR)).expect("there is room");
    runtime.block_on(cache.worlds(&tables.database, Access::Raw, &[1, 2])).expect("they are there");
    server.stop();
    let limits = [("over the connection that is open", "1.5s", 1500), ("over a new one", "2.5s", 2500)];
    for (question, text, limit) in limits {
        let since = Instant::now();
        let error = runtime.block_on(cache.get("key")).expect_err("nobody results");
        assert_eq!((error.kind(), error.side()), (ErrorKind::TimedOut, Side::Server), "{question}: {error}");
        assert!(error.is_temporary() && error.to_string().contains(text), "{question}: {error}");
        let took = since.elapsed().as_millis();
        assert!((limit - 10..limit + 2000).contains(&took), "{question}: {took} ms");
    }
    // Of many concurrent operations, none waits for the timeouts of those before it.
    let since = Instant::now();
    let many = runtime.block_on(join_all((0..40).map(|_| cache.worlds(&tables.database, Access::Raw, &[1]))));
    many.into_iter().for_each(|result| assert_eq!(result.expect_err("nobody results").kind(), ErrorKind::TimedOut));
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    let options = CacheOptions { connect_timeout: Duration::from_millis(100), ..fixture.options.clone() };
    let error = Cache::open(&fixture.url, &options).expect_err("nobody results");
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    server.go_on();
    assert_eq!(runtime.block_on(cache.get("key")), Ok(Some(b"value".to_vec())), "it results again");
}

#[test]
fn a_query_whose_caller_is_gone() {
    let fixture = Fixture::redis();
    let (cache, runtime) = (fixture.open(), runtime());
    for n in 0..20_u8 {
        runtime.block_on(cache.put(&n.to_string(), &[n], HOUR)).expect("there is room");
    }
    runtime.block_on(async {
        for n in 0..20_u8 {
            let mut query = Box::pin(cache.get("0"));
            let is_pending = poll_fn(|cx| Poll::Ready(query.as_mut().poll(cx).is_pending())).await;
            assert!(is_pending, "no result can have come yet");
            if n % 2 == 0 {
                // This command is sent.
                tokio::task::yield_now().await;
            }
            drop(query);
            assert_eq!(cache.get(&n.to_string()).await, Ok(Some(vec![n])), "each has his own result");
        }
    });
}
