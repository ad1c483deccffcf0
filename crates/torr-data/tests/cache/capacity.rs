//! The capacity of a cache in memory.

use crate::fixture::Fixture;
use std::time::Duration;
use torr_data::{Cache, CacheOptions};

const LONG: Duration = Duration::from_secs(3600);

fn with(capacity: usize) -> Cache {
    Fixture { options: CacheOptions { capacity, ..CacheOptions::default() }, ..Fixture::memory() }.open()
}

fn kept(cache: &Cache, keys: u32) -> usize {
    let is_there = |n: &u32| cache.blocking().get(&n.to_string()).expect("memory").is_some();
    (0..keys).filter(is_there).count()
}

#[test]
fn no_more_is_kept_than_there_is_room_for() {
    let cache = with(1 << 20);
    let value = [7; 1024];
    for n in 0..10_000 {
        cache.blocking().put(&n.to_string(), &value, LONG).expect("memory");
        assert!(n % 1000 != 0 || cache.blocking().get(&n.to_string()) == Ok(Some(value.to_vec())), "the last one");
    }
    let kept = kept(&cache, 10_000);
    assert!((600..=1024).contains(&kept), "{kept} of a kilobyte each are kept in a megabyte");
}

#[test]
fn small_ones_take_room_too() {
    let cache = with(1 << 20);
    for n in 0..100_000 {
        cache.blocking().put(&n.to_string(), b"", LONG).expect("memory");
    }
    let kept = kept(&cache, 100_000);
    assert!((5000..=11_000).contains(&kept), "{kept}");
}

#[test]
fn what_is_too_large_leaves_nothing_of_what_was_there() {
    let cache = with(1 << 20);
    cache.blocking().put("key", b"old", LONG).expect("memory");
    cache.blocking().put("key", &[7; 1 << 20], LONG).expect("memory");
    assert_eq!(cache.blocking().get("key"), Ok(None));
    cache.blocking().put("key", b"new", LONG).expect("memory");
    assert_eq!(cache.blocking().get("key"), Ok(Some(b"new".to_vec())));
}

#[test]
fn no_room_at_all() {
    let cache = with(0);
    cache.blocking().put("key", b"value", LONG).expect("memory");
    assert_eq!(cache.blocking().get("key"), Ok(None));
}
