//! Tests with real databases: what their clients send is what the capture counts.

use super::{Database, Endpoint, Setup, Source, Statements, Watch};
use crate::unseen::{Remedy, UnseenReason};
use mysql_async::prelude::Queryable;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use torr_test_support::databases::{Make, Server, runtime, shared};
use torr_test_support::required;

/// The HTTP responses that the service of a test gives.
const REQUESTS: u64 = 40;

/// Returns the right to send statements. All tests are one process and share the databases: statements of another test would be
/// counted too.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that failed has left nothing half done here.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(database: Database, server: &Server) -> Watch {
    let own = i32::try_from(std::process::id()).expect("a process's number");
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port)).into();
    Watch::start(Setup { database, server, processes: vec![own], login: None })
}

/// Returns what was found, or `None` if this machine does not permit the capture.
fn finish(watch: Watch) -> Option<Statements> {
    let found = watch.finish(|_| REQUESTS);
    let is_refused = found.unseen.iter().any(|unseen| !unseen.remedies.is_empty() && found.elapsed_s == 0.0);
    if is_refused {
        required::cannot_run("the capture of statements", &format!("{:?}", found.unseen));
        return None;
    }
    Some(found)
}

/// Returns the calls, rows and refusals of a statement.
fn counts(found: &Statements, statement: &str) -> (u64, f64, u64) {
    let mut places = found.widest.iter().chain(&found.repeated).chain(&found.places);
    let place = places.find(|place| place.statement == statement);
    let place = place.unwrap_or_else(|| panic!("{statement} is missing: {found:#?}"));
    (place.calls.expect("the wire has calls"), place.rows_per_call.expect("it has calls"), place.failed)
}

fn run(future: impl Future<Output = ()>) {
    runtime().block_on(future);
}

#[test]
fn statements_of_postgres_are_counted() {
    let _alone = alone();
    let server = shared(Make::Postgres);
    let url = server.new_database();
    run(async {
        let connect = || async {
            let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.expect("the server");
            tokio::spawn(connection);
            client
        };
        let early = connect().await;
        early.batch_execute("CREATE TABLE item (id INT, name TEXT)").await.expect("a table");
        early.execute("INSERT INTO item SELECT n, 'x' FROM generate_series(1, 100) n", &[]).await.expect("rows");
        let prepared_before = early.prepare("SELECT name FROM item WHERE id < $1").await.expect("a statement");
        let watch = watch(Database::Postgres, server);
        let late = connect().await;
        let statement = late.prepare("SELECT id, name FROM item WHERE id = $1 -- secret").await.expect("a statement");
        for _ in 0..REQUESTS {
            for id in 0..10_i32 {
                let rows = late.query(&statement, &[&id]).await.expect("rows");
                assert_eq!(rows.len(), usize::from(id > 0));
            }
            late.batch_execute("BEGIN; UPDATE item SET name = 'secret' WHERE id IN (1,2 , 3); COMMIT")
                .await
                .expect("it");
            late.simple_query("SELECT secret FROM nowhere WHERE a = 'b'").await.expect_err("there is no such table");
            // Sent without waiting for each other.
            let (one, two) = (late.query_one("SELECT count(*) FROM item", &[]), late.execute("SELECT 1 / 0", &[]));
            let (one, two) = futures_util::future::join(one, two).await;
            assert_eq!(one.expect("a row").get::<_, i64>(0), 100);
            two.expect_err("a division by zero");
            early.query(&prepared_before, &[&11_i32]).await.expect("rows");
        }
        let Some(found) = finish(watch) else { return };
        assert_eq!(counts(&found, "SELECT id, name FROM item WHERE id = ?"), (10 * REQUESTS, 0.9, 0));
        let all = texts(&found);
        assert!(!all.contains("secret'") && !all.contains("-- "), "{all}");
        assert_eq!(found.repeated.len(), 1, "{:#?}", found.repeated);
        assert_eq!(found.repeated[0].per_response, Some(10.0));
        let longest = found.repeated[0].run.expect("it was called");
        assert!((9.9..=10.1).contains(&longest), "{longest}");
    });
}

/// Returns all texts that were found.
fn texts(found: &Statements) -> String {
    serde_json::to_string(found).expect("facts are serialisable")
}

#[test]
fn statements_of_mariadb_are_counted() {
    let _alone = alone();
    let server = shared(Make::MariaDb);
    let url = server.new_database();
    run(async {
        let connect = || async { mysql_async::Conn::from_url(&url).await.expect("the server") };
        let mut early = connect().await;
        early.query_drop("CREATE TABLE item (id INT, name TEXT)").await.expect("a table");
        early.query_drop("INSERT INTO item SELECT seq, 'x' FROM seq_1_to_100").await.expect("rows");
        let watch = watch(Database::MySql, server);
        let mut late = connect().await;
        let statement = late.prep("SELECT id, name FROM item WHERE id = ?").await.expect("a statement");
        for _ in 0..REQUESTS {
            for id in 0..10 {
                let rows: Vec<(i32, String)> = late.exec(&statement, (id,)).await.expect("rows");
                assert_eq!(rows.len(), usize::from(id > 0));
            }
            late.query_drop("UPDATE item SET name = \"secret\" WHERE id IN (1,2 , 3)").await.expect("it");
            late.query_drop("SELECT secret FROM nowhere WHERE a = 'b'").await.expect_err("there is no such table");
            let rows: Vec<i32> = early.query("SELECT id FROM item WHERE id < 12").await.expect("rows");
            assert_eq!(rows.len(), 11);
        }
        let Some(found) = finish(watch) else { return };
        assert_eq!(counts(&found, "SELECT id, name FROM item WHERE id = ?"), (10 * REQUESTS, 0.9, 0));
        assert_eq!(counts(&found, "UPDATE item SET name = ? WHERE id IN (?)").0, REQUESTS);
        assert_eq!(counts(&found, "SELECT secret FROM nowhere WHERE a = ?"), (REQUESTS, 0.0, REQUESTS));
        // This connection was open before, and is read from where a response ends.
        let (calls, rows, failed) = counts(&found, "SELECT id FROM item WHERE id < ?");
        assert!((REQUESTS - 4..=REQUESTS).contains(&calls) && rows == 11.0 && failed == 0, "{calls} {rows} {failed}");
        assert_eq!(found.repeated.len(), 1, "{:#?}", found.repeated);
    });
}

#[test]
fn commands_of_redis_are_counted() {
    let _alone = alone();
    let server = shared(Make::Redis);
    let client = redis::Client::open(server.url("3")).expect("the test's URL is right");
    let mut early = client.get_connection().expect("the server");
    let watch = watch(Database::Redis, server);
    let mut late = client.get_connection().expect("the server");
    for number in 0..REQUESTS {
        let key = format!("user:{number}:secret");
        redis::cmd("HSET").arg(&key).arg("a").arg("secret").exec(&mut late).expect("it");
        for _ in 0..10 {
            let all: Vec<String> = redis::cmd("HGETALL").arg(&key).query(&mut late).expect("it");
            assert_eq!(all, ["a", "secret"]);
        }
        let mut pipe = redis::pipe();
        pipe.atomic().cmd("INCR").arg("n").cmd("INCRBY").arg("n").arg(3);
        pipe.exec(&mut late).expect("it");
        redis::cmd("LPUSH").arg("n").arg(3).exec(&mut late).expect_err("it is a number");
        redis::cmd("GET").arg("n").exec(&mut early).expect("it");
    }
    let Some(found) = finish(watch) else { return };
    assert_eq!(counts(&found, "HGETALL user:?"), (10 * REQUESTS, 2.0, 0));
    assert!(!texts(&found).contains("secret"));
    assert_eq!(found.repeated.len(), 1, "{:#?}", found.repeated);
    // HELLO, AUTH and the like come once, all others as often as they were sent.
    assert!(found.calls >= REQUESTS * (1 + 10 + 4 + 1 + 1) - 9, "{found:#?}");
}

/// Returns the path of a PostgreSQL's Unix socket, which the kernel lists.
fn unix_socket(server: &Server) -> PathBuf {
    let name = format!("/.s.PGSQL.{}", server.port);
    let sockets = std::fs::read_to_string("/proc/net/unix").expect("the kernel lists Unix sockets");
    let path = sockets.lines().filter_map(|line| line.split_whitespace().last()).find(|path| path.ends_with(&name));
    path.expect("PostgreSQL listens at a Unix socket").into()
}

#[test]
fn statements_over_a_unix_socket_are_read_from_the_memory_of_postgres() {
    let _alone = alone();
    let server = shared(Make::Postgres);
    let tcp: tokio_postgres::Config = server.new_database().parse().expect("the test's URL is right");
    let path = unix_socket(server);
    let mut config = tokio_postgres::Config::new();
    config.host_path(path.parent().expect("the socket is in a folder")).port(server.port);
    config.user(tcp.get_user().expect("the URL has a user")).dbname(tcp.get_dbname().expect("the URL has a database"));
    config.password(tcp.get_password().expect("the URL has a password"));
    run(async {
        let (client, connection) = config.connect(tokio_postgres::NoTls).await.expect("the server");
        tokio::spawn(connection);
        let slow = client.prepare("SELECT 'secret' FROM pg_sleep(0.01) WHERE $1 < 7").await.expect("a statement");
        let processes = vec![server.pid().cast_signed()];
        let server = Endpoint::Unix { path: path.display().to_string(), processes };
        let setup = Setup { database: Database::Postgres, server, processes: vec![1], login: None };
        let (watch, began) = (Watch::start(setup), Instant::now());
        while began.elapsed() < Duration::from_millis(1500) {
            client.query(&slow, &[&3_i32]).await.expect("rows");
            client.simple_query("SELECT 1; SELECT 'secret'").await.expect("rows");
        }
        let found = watch.finish(|_| REQUESTS);
        if found.unseen.iter().any(|unseen| unseen.remedies.contains(&Remedy::Capability("CAP_SYS_PTRACE".into()))) {
            return required::cannot_run("reading the memory of PostgreSQL", &format!("{:?}", found.unseen));
        }
        let place = found.places.first().unwrap_or_else(|| panic!("no statement dominates: {found:#?}"));
        assert_eq!(place.statement, "SELECT ? FROM pg_sleep(?) WHERE ? < ?");
        assert_eq!((place.source, &place.server), (Source::Memory, &path.display().to_string()));
        assert!(place.share.low > 0.5, "{place:?}");
        assert!(!texts(&found).contains("secret"));
    });
}

#[test]
fn statements_over_a_unix_socket_of_another_database_need_a_login() {
    for database in [Database::MySql, Database::Redis] {
        let server = Endpoint::Unix { path: "/run/database.sock".into(), processes: vec![1] };
        let setup = Setup { database, server, processes: vec![1], login: None };
        let found = Watch::start(setup).finish(|_| REQUESTS);
        let [unseen] = &found.unseen[..] else { panic!("one thing is not visible: {found:?}") };
        assert_eq!((&unseen.why, &unseen.remedies[..]), (&UnseenReason::UnixSocket, &[Remedy::Login][..]));
        assert_eq!((unseen.name.as_str(), found.places.len()), ("/run/database.sock", 0));
    }
}
