//! Tests with real databases and a login: plans, and who holds the lock that a statement waits for.

use super::tests::alone;
use super::{Database, Login, Setup, Statements, Watch};
use mysql_async::prelude::Queryable;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use torr_test_support::databases::{Make, Server, runtime, shared};

/// How long statements run while a login looks at them: some ten samples, also on a busy machine.
const LOAD: Duration = Duration::from_millis(1500);

/// Watches by a login alone: the process that it counts in packets sends nothing.
fn watch(database: Database, server: &Server, url: &str) -> Watch {
    let login = Some(Login::parse(url).expect("the test's URL is right"));
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port)).into();
    Watch::start(Setup { database, server, processes: vec![1], login })
}

fn run(future: impl Future<Output = ()>) {
    runtime().block_on(future);
}

async fn postgres(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("the server");
    tokio::spawn(connection);
    client
}

async fn mysql(url: &str) -> mysql_async::Conn {
    mysql_async::Conn::from_url(url).await.expect("the server")
}

/// Returns the statement that dominates.
fn first(found: &Statements) -> &super::StatementPlace {
    found.places.first().unwrap_or_else(|| panic!("no statement dominates: {found:#?}"))
}

/// Checks that the statement that dominates lacks an index of `orders` for this column, or none, and that its values are not shown.
fn lacks_index(found: &Statements, column: Option<&str>) {
    let place = first(found);
    assert!(!place.statement.contains("secret"), "{place:#?}");
    let index = place.missing_index.as_ref().map(|index| (&*index.table, &*index.column));
    assert_eq!(index, column.map(|column| ("orders", column)), "{found:#?}");
}

/// Returns what blocks the statement that dominates, which is the one that deletes.
fn blocker(found: &Statements) -> &super::Blocker {
    let place = first(found);
    assert_eq!(place.statement, "DELETE FROM stock WHERE id = ?");
    place.blocked_by.as_ref().unwrap_or_else(|| panic!("no blocker: {found:#?}"))
}

#[test]
fn postgres_names_a_missing_index() {
    let _alone = alone();
    let server = shared(Make::Postgres);
    let url = server.new_database();
    run(async {
        let client = postgres(&url).await;
        let table = "CREATE TABLE orders (id INT PRIMARY KEY, user_id INT, note TEXT); \
            INSERT INTO orders SELECT n, n % 5000, repeat('x', 100) FROM generate_series(1, 100000) n; ANALYZE orders";
        client.batch_execute(table).await.expect("a table");
        for (sql, column) in [
            ("SELECT id FROM orders WHERE user_id = $1 AND note LIKE 'x%'", Some("user_id")),
            // An index would not serve.
            ("SELECT count(*) FROM orders o WHERE o.user_id > $1 OR o.note = 'secret'", None),
        ] {
            let watch = watch(Database::Postgres, server, &url);
            let statement = client.prepare(sql).await.expect("a statement");
            let began = Instant::now();
            while began.elapsed() < LOAD {
                client.query(&statement, &[&7_i32]).await.expect("rows");
            }
            lacks_index(&watch.finish(|_| 0), column);
        }
    });
}

#[test]
fn postgres_names_the_holder_of_a_row() {
    let _alone = alone();
    let server = shared(Make::Postgres);
    let url = server.new_database();
    run(async {
        let holder = postgres(&url).await;
        holder
            .batch_execute("CREATE TABLE stock (id INT PRIMARY KEY, n INT); INSERT INTO stock VALUES (1, 1)")
            .await
            .expect("it");
        let watch = watch(Database::Postgres, server, &url);
        holder.batch_execute("BEGIN").await.expect("it");
        holder.execute("UPDATE stock SET n = 5 WHERE id = $1", &[&1_i32]).await.expect("it");
        let (one, two) = (postgres(&url).await, postgres(&url).await);
        let wait = |client: tokio_postgres::Client| async move {
            client.execute("DELETE FROM stock WHERE id = $1", &[&1_i32]).await.expect("it");
        };
        let waits = futures_util::future::join(tokio::spawn(wait(one)), tokio::spawn(wait(two)));
        tokio::time::sleep(LOAD).await;
        let found = tokio::task::spawn_blocking(|| watch.finish(|_| 0)).await.expect("it ends");
        holder.batch_execute("COMMIT").await.expect("it");
        let (one, two) = waits.await;
        one.and(two).expect("both end");
        let blocker = blocker(&found);
        assert_eq!(blocker.statement.as_deref(), Some("UPDATE stock SET n = ? WHERE id = ?"));
        assert!(blocker.is_idle_in_transaction && blocker.share.low > 0.2, "{blocker:?}");
    });
}

#[test]
fn mariadb_names_a_missing_index() {
    let _alone = alone();
    let server = shared(Make::MariaDb);
    let url = server.new_database();
    run(async {
        let mut client = mysql(&url).await;
        client.query_drop("CREATE TABLE orders (id INT PRIMARY KEY, user_id INT, note TEXT)").await.expect("a table");
        let fill = "INSERT INTO orders SELECT seq, seq % 5000, repeat('x', 100) FROM seq_1_to_50000";
        client.query_drop(fill).await.expect("rows");
        client.query_drop("ANALYZE TABLE orders").await.expect("it");
        for (sql, column) in [
            ("SELECT o.id FROM orders o WHERE o.user_id = ? AND o.note LIKE 'x%'", Some("user_id")),
            ("SELECT id FROM orders WHERE user_id + 1 = ? AND note LIKE 'secret%'", None),
        ] {
            let watch = watch(Database::MySql, server, &url);
            let began = Instant::now();
            while began.elapsed() < LOAD {
                client.exec_drop(sql, (7,)).await.expect("rows");
            }
            lacks_index(&watch.finish(|_| 0), column);
        }
    });
}

#[test]
fn mariadb_names_the_holder_of_a_row() {
    let _alone = alone();
    let server = shared(Make::MariaDb);
    let url = server.new_database();
    run(async {
        let mut holder = mysql(&url).await;
        holder.query_drop("CREATE TABLE stock (id INT PRIMARY KEY, n INT)").await.expect("it");
        holder.query_drop("INSERT INTO stock VALUES (1, 1)").await.expect("it");
        let watch = watch(Database::MySql, server, &url);
        holder.query_drop("START TRANSACTION").await.expect("it");
        holder.query_drop("UPDATE stock SET n = 5 WHERE id = 1").await.expect("it");
        let mut waiting = mysql(&url).await;
        let wait = async move { waiting.query_drop("DELETE FROM stock WHERE id = 1").await };
        let wait = tokio::spawn(wait);
        tokio::time::sleep(LOAD).await;
        let found = tokio::task::spawn_blocking(|| watch.finish(|_| 0)).await.expect("it ends");
        holder.query_drop("COMMIT").await.expect("it");
        wait.await.expect("it ends").expect("it");
        let blocker = blocker(&found);
        assert!(blocker.is_idle_in_transaction && blocker.statement.is_none(), "{blocker:?}");
    });
}

#[test]
fn redis_names_the_command() {
    let _alone = alone();
    let server = shared(Make::Redis);
    let url = server.url("5");
    let client = redis::Client::open(&*url).expect("the test's URL is right");
    let mut connection = client.get_connection().expect("the server");
    redis::cmd("CONFIG").arg("SET").arg("slowlog-log-slower-than").arg(0).exec(&mut connection).expect("it");
    let mut pipe = redis::pipe();
    for number in 0..20_000 {
        pipe.cmd("RPUSH").arg("feed:secret").arg(number).ignore();
    }
    pipe.exec(&mut connection).expect("it");
    let watch = watch(Database::Redis, server, &url);
    for _ in 0..100 {
        redis::cmd("LRANGE").arg("feed:secret").arg(0).arg(-1).exec(&mut connection).expect("it");
    }
    let found = watch.finish(|_| 10);
    let place = first(&found);
    assert_eq!((&*place.statement, place.calls, place.per_response), ("LRANGE feed:? ?", Some(100), Some(10.0)));
    assert!(place.is_repeated && place.share.low > 0.5, "{place:#?}");
}

#[test]
fn a_refused_login_is_said_without_its_password() {
    let _alone = alone();
    let server = shared(Make::Postgres);
    let found = watch(Database::Postgres, server, &server.url_with("wrong", "postgres")).finish(|_| 0);
    let text = format!("{found:?}");
    assert!(text.contains("cannot log in to the database: password authentication failed"), "{text}");
    assert!(!text.contains("wrong"), "{text}");
}
