//! `torr serve` with a cache: TechEmpower's cached queries, and sessions, in memory and in Redis.

use serde_json::Value;
use std::collections::BTreeMap;
use torr_test_support::client::{Client, ClientResponse};
use torr_test_support::databases::{Make, Outside, PASSWORD, Server, shared};
use torr_test_support::program::torr;
use torr_test_support::servers::{Serve, closed_port};
use torr_test_support::wait_until;

fn json(response: &ClientResponse) -> Value {
    assert_eq!((response.status, response.field("Content-Type")), (200, Some("application/json")), "{response:?}");
    serde_json::from_slice(&response.body).unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

fn worlds(response: &ClientResponse) -> Vec<(i64, i64)> {
    let world = |value: &Value| Some((value["id"].as_i64()?, value["randomNumber"].as_i64()?));
    let rows = json(response);
    rows.as_array().and_then(|rows| rows.iter().map(world).collect()).unwrap_or_else(|| panic!("{rows}"))
}

fn redis(number: u32) -> String {
    shared(Make::Redis).url(&number.to_string())
}

macro_rules! in_both {
    ($($test:ident: $number:expr),* $(,)?) => {
        mod memory {
            $(#[test]
            fn $test() {
                super::$test("memory");
            })*
        }
        mod redis {
            $(#[test]
            fn $test() {
                super::$test(&super::redis($number));
            })*
        }
    };
}

in_both!(
    rows_come_from_the_cache_once_they_are_there: 1,
    a_session_counts_its_own_visits: 2,
    visits_at_the_same_time_are_all_counted: 4,
);

fn rows_come_from_the_cache_once_they_are_there(cache: &str) {
    for (make, mode) in [(Make::Postgres, "async"), (Make::MariaDb, "blocking")] {
        let url = shared(make).new_database();
        let settings = ["--cache", cache, "--db-mode", mode, "--database", &url, "--cache-ttl", "1h"];
        let serve = Serve::start(&[&["--workers", "2", "--db-rows", "100"], &settings[..]].concat());
        let mut client = serve.client();
        for (query, rows) in [("", 1), ("count=foo", 1), ("count=0", 1), ("count=20", 20), ("count=501", 500)] {
            assert_eq!(worlds(&client.get(&format!("/cached-worlds?{query}"))).len(), rows, "{query}");
        }
        let mut seen = BTreeMap::new();
        while seen.len() < 9_900 {
            seen.extend(worlds(&client.get("/cached-worlds/?count=500")));
        }
        Outside::new(&url).run("UPDATE world SET randomnumber = 10001");
        let rows: Vec<_> = (0..10).flat_map(|_| worlds(&client.get("/cached-worlds?count=500"))).collect();
        let known: Vec<_> = rows.iter().filter(|(id, _)| seen.contains_key(id)).collect();
        assert!(known.len() > 4_000, "nearly all were there");
        assert!(known.iter().all(|(id, number)| seen[id] == *number), "what is cached is not read again");
        let uncached = worlds(&client.get("/queries?queries=20"));
        assert!(uncached.iter().all(|(_, number)| *number == 10_001), "and without the cache nothing is kept");
    }
}

/// The cookie that a response sets.
fn cookie(response: &ClientResponse) -> Option<String> {
    let value = response.field("Set-Cookie")?;
    assert!(value.ends_with("; Path=/; HttpOnly; SameSite=Lax"), "{value}");
    Some(value.split(';').next().expect("there is always a first part").to_owned())
}

fn ask(client: &mut Client, method: &str, cookie: &str) -> ClientResponse {
    client.send(format!("{method} /session HTTP/1.1\r\nHost: x\r\nCookie: theme=dark; {cookie}\r\n\r\n"));
    client.response()
}

fn a_session_counts_its_own_visits(cache: &str) {
    let serve = Serve::start(&["--workers", "2", "--cache", cache]);
    let (mut one, mut other) = (serve.client(), serve.client());
    let visits = |response: &ClientResponse| json(response)["visits"].as_u64();
    let (first, second) = (one.get("/session"), other.get("/session"));
    let names = [&first, &second].map(|response| cookie(response).expect("a new client gets a name"));
    assert_ne!(names[0], names[1]);
    assert_eq!(first.field("Cache-Control"), Some("no-store"));
    for n in 2..5 {
        // Whichever worker a connection is with.
        let response = ask(&mut serve.client(), "GET", &names[0]);
        assert_eq!((visits(&response), cookie(&response)), (Some(n), None));
    }
    assert_eq!(visits(&ask(&mut other, "GET", &names[1])), Some(2));
    for made_up in ["torr_session=00000000000000000000000000000007", "torr_session=", "torr_session=../../x"] {
        let response = ask(&mut one, "GET", made_up);
        assert_eq!(visits(&response), Some(1));
        assert!(cookie(&response).is_some_and(|name| name != made_up), "nobody chooses his own: {response:?}");
    }
    assert_eq!(ask(&mut one, "DELETE", &names[0]).status, 204);
    let response = ask(&mut one, "GET", &names[0]);
    assert_eq!(visits(&response), Some(1));
    assert!(cookie(&response).is_some_and(|name| name != names[0]));
}

fn visits_at_the_same_time_are_all_counted(cache: &str) {
    const CLIENTS: usize = 4;
    const VISITS: usize = 250;
    let serve = Serve::start(&["--workers", "2", "--cache", cache]);
    let name = cookie(&serve.client().get("/session")).expect("a new client gets a name");
    let visit = || {
        let mut client = serve.client();
        let visits = (0..VISITS).map(|_| json(&ask(&mut client, "GET", &name))["visits"].as_u64().expect("a number"));
        visits.collect::<Vec<_>>()
    };
    let mut seen: Vec<u64> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(visit)).collect();
        clients.into_iter().flat_map(|client| client.join().expect("it does not panic")).collect()
    });
    seen.sort_unstable();
    let expected: Vec<u64> = (2..).take(CLIENTS * VISITS).collect();
    assert!(seen == expected, "{} visits, the last one counted as {:?}", seen.len(), seen.last());
}

#[test]
fn sessions_in_redis_outlive_the_server_and_are_of_all_processes() {
    let url = redis(3);
    let start = || Serve::start(&["--processes", "2", "--workers", "1", "--cache", &url]);
    let serve = start();
    let name = cookie(&serve.client().get("/session")).expect("a new client gets a name");
    for n in 2..12 {
        let response = ask(&mut serve.client(), "GET", &name);
        assert_eq!(json(&response)["visits"], n);
    }
    drop(serve);
    assert_eq!(json(&ask(&mut start().client(), "GET", &name))["visits"], 12);
}

#[test]
fn redis_goes_and_comes_back() {
    let mut server = Server::start(Make::Redis);
    let serve = Serve::start(&["--workers", "1", "--cache", &server.url("0"), "--cache-timeout", "500ms"]);
    let mut client = serve.client();
    assert_eq!(client.get("/session").status, 200);
    server.kill();
    for path in ["/session", "/cached-worlds?count=3"] {
        let response = client.get(path);
        assert_eq!((response.status, response.field("Retry-After")), (503, Some("1")), "{response:?}");
        assert!(!response.text().to_lowercase().contains("redis"), "{response:?}");
    }
    assert_eq!(client.get("/db/raw").status, 200, "all else goes on");
    server.start_again();
    for path in ["/session", "/cached-worlds?count=3"] {
        wait_until("Redis to be found again", || (client.get(path).status == 200).then_some(()));
    }
    server.stop();
    assert_eq!(client.get("/session").status, 503, "one that is silent is not waited for without end");
    server.go_on();
    wait_until("Redis to be found again", || (client.get("/session").status == 200).then_some(()));
}

#[test]
fn an_unusable_cache_is_reported_in_one_line() {
    let wrong = shared(Make::Redis).url_with("secret", "0");
    let nowhere = format!("redis://:{}@127.0.0.1:{}/0", PASSWORD.replace(' ', "%20"), closed_port());
    for (url, code) in [("memcached://x", 2), (&*wrong, 2), (&*nowhere, 3)] {
        let ended = torr(&["serve", "--listen", "127.0.0.1:0", "--cache", url]);
        let line = ended.stderr.strip_suffix('\n').unwrap_or_default();
        assert_eq!((ended.code, line.contains('\n')), (Some(code), false), "{url}: {ended:?}");
        assert!(line.starts_with("torr: cannot use the cache: ") && !line.contains("secret"), "{line}");
        // The template of a URL has no password that would have to be hidden.
        assert!(!line.contains("***"), "{line}");
    }
}
