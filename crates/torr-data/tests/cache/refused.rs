//! Caches that cannot be opened, and commands that Redis refuses: each error has its reason in one line without a password.

use crate::fixture::Fixture;
use redis::TypedCommands;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;
use torr_data::{Cache, CacheOptions, DataError, ErrorKind, Side};
use torr_test_support::databases::{Make, PASSWORD, Server, runtime, shared};

fn opening(url: &str) -> DataError {
    let error = Cache::open(url, &CacheOptions::default()).expect_err(url);
    let text = error.to_string();
    let password = PASSWORD.replace(' ', "%20");
    for secret in ["secret", PASSWORD, &password] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(!text.contains('\n') && !text.is_empty(), "{text}");
    error
}

#[test]
fn urls_of_no_cache() {
    for url in [
        "redis://",
        "redis://:secret@",
        "redis://:secret@127.0.0.1:port",
        "redis://:secret@127.0.0.1:99999",
        "redis://:secret@127.0.0.1/name",
        "redis://:secret@127.0.0.1/0?protocol=resp3",
        "redis://:secret@127.0.0.1/0#insecure",
        "redis://:secret@0.0.0.0",
        "rediss://:secret@127.0.0.1",
        "redis+unix:///secret",
        "sqlite::memory:",
        "",
    ] {
        let error = opening(url);
        assert_eq!((error.kind(), error.side()), (ErrorKind::BadUrl, Side::Client), "{url}: {error}");
        assert!(!error.is_temporary() && error.to_string().contains("redis://:PASSWORD@HOST"), "{error}");
    }
    for (url, words) in [("rediss://h", "TLS"), ("redis://h/name", "must be a number")] {
        assert!(opening(url).to_string().contains(words), "{url}");
    }
}

#[test]
fn passwords_and_databases() {
    let server = shared(Make::Redis);
    let no_password = format!("redis://127.0.0.1:{}", server.port);
    let no_such_user = server.url("0").replace("redis://:", "redis://nobody:");
    for url in [&server.url_with("secret", "0"), &no_password, &no_such_user] {
        let error = opening(url);
        assert_eq!((error.kind(), error.side()), (ErrorKind::Denied, Side::Server), "{error}");
        assert!(!error.is_temporary());
    }
    let error = opening(&server.url("4000"));
    assert_eq!((error.kind(), error.side()), (ErrorKind::MissingDatabase, Side::Server), "{error}");
    let url = server.url("0").replace("redis://:", "redis://default:");
    let cache = Cache::open(&url, &CacheOptions::default()).expect("a user may be named");
    let shown = format!("{cache:?}");
    assert!(shown.contains("127.0.0.1") && !shown.contains("no use"), "{shown}");
}

#[test]
fn no_server_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = listener.local_addr().expect("it has one").port();
    drop(listener);
    let error = opening(&format!("redis://:secret@127.0.0.1:{port}"));
    assert_eq!((error.kind(), error.side()), (ErrorKind::Refused, Side::Network), "{error}");
    assert!(error.is_temporary() && error.to_string().contains(&format!("Redis at 127.0.0.1:{port}: ")), "{error}");
}

#[test]
fn another_protocol_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = listener.local_addr().expect("it has one").port();
    let other = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("it is connected to");
        // The request is read to its end, so that closing does not reset the connection.
        let received = stream.read(&mut [0; 512]).expect("it is asked");
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").expect("it can answer");
        received
    });
    let error = opening(&format!("redis://127.0.0.1:{port}"));
    assert_eq!(error.kind(), ErrorKind::Other, "{error}");
    assert!(error.to_string().contains("not Redis"), "{error}");
    assert!(other.join().expect("it does not panic") > 0);
}

#[test]
fn no_room_in_redis() {
    let server = Server::start(Make::Redis);
    let fixture = Fixture::at(&server, 1);
    let (cache, runtime, mut outside) = (fixture.open(), runtime(), fixture.outside());
    let hour = Duration::from_secs(3600);
    runtime.block_on(cache.put("key", b"1", hour)).expect("there is room");
    let set = |outside: &mut redis::Connection, name: &str, value: &str| {
        redis::cmd("CONFIG").arg("SET").arg(name).arg(value).exec(outside).expect("it can be set");
    };
    set(&mut outside, "maxmemory", "1");
    let error = runtime.block_on(cache.put("key", b"2", hour)).expect_err("there is no room");
    assert_eq!((error.kind(), error.side()), (ErrorKind::Exhausted, Side::Server), "{error}");
    assert!(error.is_temporary());
    assert_eq!(runtime.block_on(cache.get("key")), Ok(Some(b"1".to_vec())));
    set(&mut outside, "maxmemory", "0");
    runtime.block_on(cache.put("key", b"2", hour)).expect("there is room again");
    // The two connections that are open.
    set(&mut outside, "maxclients", "2");
    let error = Cache::open(&fixture.url, &fixture.options).expect_err("there are two already");
    // Redis sends the error and closes the connection; the client may notice the close first.
    assert!(matches!(error.kind(), ErrorKind::Exhausted | ErrorKind::Refused), "{error}");
    assert!(error.is_temporary() && error.to_string().contains("clients"), "{error}");
    assert_eq!(runtime.block_on(cache.get("key")), Ok(Some(b"2".to_vec())), "the connection is the same");
}

#[test]
fn a_key_of_another_type() {
    let fixture = Fixture::redis();
    let (cache, runtime) = (fixture.open(), runtime());
    fixture.outside().lpush("torr:value:key", "1").expect("there is room");
    let error = runtime.block_on(cache.get("key")).expect_err("it is a list");
    assert_eq!((error.kind(), error.side()), (ErrorKind::Other, Side::Server), "{error}");
    assert!(error.to_string().contains("WRONGTYPE") && !error.is_temporary(), "{error}");
    runtime.block_on(cache.put("key", b"1", Duration::from_secs(60))).expect("it is replaced");
    assert_eq!(runtime.block_on(cache.get("key")), Ok(Some(b"1".to_vec())));
}
