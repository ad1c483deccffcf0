//! Bytes by key, and their expiry.

use crate::fixture::Fixture;
use futures_util::future::join_all;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};
use torr_data::CacheKind;
use torr_test_support::databases::runtime;
use torr_test_support::wait_until;

crate::on_all!(
    what_is_put_is_got,
    all_see_the_same,
    what_has_had_its_time_is_gone,
    any_time_to_live,
    many_at_the_same_time,
    for_who_blocks,
);

const LONG: Duration = Duration::from_secs(3600);

fn what_is_put_is_got(fixture: Fixture) {
    let cache = fixture.open();
    let in_memory = cache.kind() == CacheKind::Memory;
    assert_eq!(in_memory, fixture.url == "memory");
    let all_bytes: Vec<u8> = (0..=255).collect();
    let large = all_bytes.repeat(4096);
    runtime().block_on(async {
        for key in ["key", "", "two words", "a\r\nb\0", "ключ", "torr:world:1"] {
            assert_eq!(cache.get(key).await, Ok(None), "{key:?}");
            cache.remove(key).await.expect("there is nothing to be removed");
            for value in [&b"value"[..], b"", &all_bytes, &large, b"*1\r\n$4\r\nPING\r\n"] {
                cache.put(key, value, LONG).await.expect("there is room");
                assert_eq!(cache.get(key).await.expect("it is there").as_deref(), Some(value), "{key:?}");
            }
            cache.remove(key).await.expect("it can be removed");
            assert_eq!(cache.get(key).await, Ok(None), "{key:?}");
        }
        cache.put("a", b"1", LONG).await.expect("there is room");
        cache.put("b", b"2", LONG).await.expect("there is room");
        cache.remove("a").await.expect("it can be removed");
        assert_eq!(cache.get("b").await, Ok(Some(b"2".to_vec())), "the others stay");
    });
}

fn all_see_the_same(fixture: Fixture) {
    let cache = fixture.open();
    runtime().block_on(cache.put("from", b"here", LONG)).expect("there is room");
    thread::scope(|scope| {
        for n in 0..4 {
            let cache = cache.clone();
            scope.spawn(move || {
                runtime().block_on(async {
                    assert_eq!(cache.get("from").await, Ok(Some(b"here".to_vec())));
                    cache.put(&format!("from {n}"), &[n], LONG).await.expect("there is room");
                });
            });
        }
    });
    for n in 0..4 {
        assert_eq!(runtime().block_on(cache.get(&format!("from {n}"))), Ok(Some(vec![n])));
    }
}

fn what_has_had_its_time_is_gone(fixture: Fixture) {
    let (cache, runtime) = (fixture.open(), runtime());
    let ttl = Duration::from_millis(150);
    let put = |key, value: &[u8], ttl| runtime.block_on(cache.put(key, value, ttl)).expect("there is room");
    let get = |key| runtime.block_on(cache.get(key)).expect("it can be asked");
    put("stays", b"1", LONG);
    put("is put again", b"1", ttl);
    put("is put again", b"2", LONG);
    put("is shortened", b"1", LONG);
    put("is shortened", b"2", ttl);
    let since = Instant::now();
    put("goes", b"1", ttl);
    loop {
        let (found, age) = (get("goes"), since.elapsed());
        assert!(found.is_some() || age >= ttl - Duration::from_millis(2), "gone after {age:?}");
        if found.is_none() {
            break;
        }
        assert!(age < Duration::from_secs(10), "still there after {age:?}");
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(get("stays"), Some(b"1".to_vec()));
    assert_eq!(get("is put again"), Some(b"2".to_vec()));
    assert_eq!(get("is shortened"), None);
    put("goes", b"2", LONG);
    assert_eq!(get("goes"), Some(b"2".to_vec()), "it may come again");
}

fn any_time_to_live(fixture: Fixture) {
    let (cache, runtime) = (fixture.open(), runtime());
    for ttl in [LONG, Duration::MAX] {
        runtime.block_on(cache.put("key", b"1", ttl)).expect("it is bounded");
        assert_eq!(runtime.block_on(cache.get("key")), Ok(Some(b"1".to_vec())), "{ttl:?}");
    }
    runtime.block_on(cache.put("key", b"1", Duration::ZERO)).expect("it is bounded");
    wait_until("the shortest time has passed", || (runtime.block_on(cache.get("key")) == Ok(None)).then_some(()));
}

fn many_at_the_same_time(fixture: Fixture) {
    let cache = fixture.open();
    runtime().block_on(async {
        let put = |n: usize| async move { n.to_string().repeat(1 + n % 700) };
        let puts = join_all((0..1000).map(async |n| cache.put(&n.to_string(), put(n).await.as_bytes(), LONG).await));
        assert!(puts.await.iter().all(Result::is_ok));
        let gets = join_all((0..1000).map(async |n| cache.get(&n.to_string()).await)).await;
        for (n, got) in gets.into_iter().enumerate() {
            assert_eq!(got, Ok(Some(put(n).await.into_bytes())), "each has his own answer");
        }
    });
}

fn for_who_blocks(fixture: Fixture) {
    let cache = fixture.open();
    // Blocking works also on a thread that runs a runtime.
    runtime().block_on(async {
        assert_eq!(cache.blocking().get("key"), Ok(None));
        cache.blocking().put("key", b"value", LONG).expect("there is room");
        assert_eq!(cache.blocking().get("key"), Ok(Some(b"value".to_vec())));
        assert_eq!(cache.get("key").await, Ok(Some(b"value".to_vec())));
        cache.blocking().remove("key").expect("it can be removed");
        assert_eq!(cache.blocking().get("key"), Ok(None));
    });
}

#[test]
fn in_memory_no_caller_waits() {
    let cache = Fixture::memory().open();
    assert_eq!(at_once(cache.put("key", b"value", LONG)), Ok(()));
    assert_eq!(at_once(cache.get("key")), Ok(Some(b"value".to_vec())));
    assert_eq!(at_once(cache.remove("key")), Ok(()));
}

/// Polls once, without a runtime.
pub fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("it would have to wait"),
    }
}
