//! Servers that stop, do not respond or refuse, and exhausted pools: errors in time, and recovery without help.

use crate::fixture::Fixture;
use futures_util::future::{join, join_all, try_join_all};
use std::net::TcpListener;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use torr_data::{Access, DataError, Database, ErrorKind, Options, PoolEvent, Side, World};
use torr_test_support::databases::{Make, Outside, PASSWORD, Server, runtime};
use torr_test_support::wait_until;

crate::on_servers!(a_statement_that_takes_too_long, a_query_whose_caller_is_gone);
crate::tests_on!(pool_of_mariadb, crate::fixture::Fixture::mariadb(), a_pool_that_is_used_up);
crate::tests_on!(pool_of_postgres, crate::fixture::Fixture::postgres(), a_pool_that_is_used_up);
crate::tests_on!(
    own_mariadb,
    torr_test_support::databases::Make::MariaDb,
    a_server_goes_and_comes_back,
    a_silent_server,
    refused
);
crate::tests_on!(
    own_postgres,
    torr_test_support::databases::Make::Postgres,
    a_server_goes_and_comes_back,
    a_silent_server,
    refused
);

#[test]
fn a_file_that_another_program_writes() {
    let mut fixture = Fixture::file();
    fixture.options.statement_timeout = Duration::from_millis(200);
    let (database, mut outside) = (fixture.open(), fixture.outside());
    for access in Access::ALL {
        let before = database.blocking().world(access, 1).expect("it is there");
        outside.lock();
        let row = World { id: 1, random_number: before.random_number + 1 };
        let error = database.blocking().update(access, &[row]).expect_err("it is locked");
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{access}: {error}");
        assert_eq!(database.blocking().world(access, 1), Ok(before), "readers go on");
        outside.unlock();
        database.blocking().update(access, &[row]).expect("it is free");
    }
}

#[test]
fn no_server_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let port = listener.local_addr().expect("it has one").port();
    drop(listener);
    for (scheme, name) in [("mysql", "MySQL"), ("mariadb", "MySQL"), ("postgres", "PostgreSQL")] {
        let url = format!("{scheme}://torr:secret@127.0.0.1:{port}/bench");
        let error = Database::open(&url, &Options::default(), |_| {}).expect_err("nothing listens");
        assert_eq!((error.kind(), error.side()), (ErrorKind::Refused, Side::Network), "{error}");
        let expected = format!(
            "cannot connect to {name} at 127.0.0.1:{port}: Connection refused (os error 111): check that it runs"
        );
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    // A '/' that should have been percent-encoded ends what the URL's grammar takes for the address.
    let unencoded = format!("mysql://127.0.0.1:{port}/secret@127.0.0.1/bench");
    let text = Database::open(&unencoded, &Options::default(), |_| {}).expect_err("nothing listens").to_string();
    assert!(text.contains("MySQL") && !text.contains("127.0.0.1") && !text.contains("secret"), "{text}");
}

#[test]
fn a_file_that_is_none() {
    let options = Options::default();
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let error = Database::open(&format!("sqlite:{}", folder.path().display()), &options, |_| {}).expect_err("a folder");
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    let file = folder.path().join("text");
    std::fs::write(&file, "something else than a database, long enough for a header. ".repeat(40)).expect("it is ours");
    let before = std::fs::read(&file).expect("it is ours");
    let error = Database::open(&format!("sqlite:{}", file.display()), &options, |_| {}).expect_err("a text");
    assert_eq!(error.kind(), ErrorKind::Other, "{error}");
    assert_eq!(std::fs::read(&file).expect("it is ours"), before);
}

fn a_statement_that_takes_too_long(mut fixture: Fixture) {
    // Long enough for a machine whose CPUs have other work for a second.
    fixture.options.statement_timeout = Duration::from_millis(1500);
    let (database, mut outside, runtime) = (fixture.open(), fixture.outside(), runtime());
    for access in Access::ALL {
        let before = runtime.block_on(database.world(access, 1)).expect("it is there");
        outside.lock();
        let since = Instant::now();
        let error = runtime.block_on(database.world(access, 1)).expect_err("it is locked");
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{access}: {error}");
        assert!(error.is_temporary() && since.elapsed() >= Duration::from_millis(1490), "{:?}", since.elapsed());
        let row = World { id: 1, random_number: before.random_number + 1 };
        let error = runtime.block_on(database.update(access, &[row])).expect_err("it is locked");
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{access}: {error}");
        outside.unlock();
        assert_eq!(runtime.block_on(database.world(access, 1)), Ok(before), "{access}");
    }
}

fn a_query_whose_caller_is_gone(mut fixture: Fixture) {
    fixture.options.pool_size = 1;
    let (database, mut outside, runtime) = (fixture.open(), fixture.outside(), runtime());
    for access in Access::ALL {
        runtime.block_on(database.world(access, 1)).expect("it is there");
        outside.lock();
        let question = async { tokio::time::timeout(Duration::from_millis(50), database.world(access, 1)).await };
        runtime.block_on(question).expect_err("nobody waits so long");
        outside.unlock();
        for id in 2..6 {
            assert_eq!(runtime.block_on(database.world(access, id)).expect("it is there").id, id, "{access}");
            assert_eq!(runtime.block_on(database.item(access, id)).expect("it is there").id, id, "{access}");
        }
    }
}

fn a_pool_that_is_used_up(mut fixture: Fixture) {
    fixture.options.pool_size = 1;
    // Long enough for a machine whose CPUs have other work for a second.
    fixture.options.acquire_timeout = Duration::from_millis(1500);
    fixture.options.statement_timeout = Duration::from_millis(3000);
    let (database, mut outside, runtime) = (fixture.open(), fixture.outside(), runtime());
    let events = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&events);
    database.observe_pool(move |event| log.lock().expect("nobody panics").push(event));
    for (n, access) in (0..).zip(Access::ALL) {
        let waits = database.pool_waits();
        assert_eq!((waits.exhausted, waits.waiting), (n, 0));
        outside.lock();
        let one_waits = async {
            while database.pool_waits().waiting != 1 {
                tokio::task::yield_now().await;
            }
        };
        let both = join(database.world(access, 1), database.world(access, 2));
        let seen = async { tokio::time::timeout(Duration::from_secs(10), one_waits).await };
        let ((first, second), seen) = runtime.block_on(join(both, seen));
        assert_eq!(seen, Ok(()), "that one waits is told while it does");
        assert_eq!(first.expect_err("it is locked").kind(), ErrorKind::TimedOut);
        let error = second.expect_err("the only connection is taken");
        assert_eq!((error.kind(), error.side()), (ErrorKind::Exhausted, Side::Client), "{access}: {error}");
        assert!(error.is_temporary());
        outside.unlock();
        let (first, second) = runtime.block_on(join(database.world(access, 1), database.world(access, 2)));
        assert_eq!((first.map(|row| row.id), second.map(|row| row.id)), (Ok(1), Ok(2)), "{access}");
        let after = database.pool_waits();
        assert_eq!((after.waits, after.exhausted, after.waiting), (waits.waits + 2, n + 1, 0));
        assert!(after.waited >= waits.waited + Duration::from_millis(1500), "{after:?}");
        let (mut opened, mut began, mut exhausted, mut waited) = (0, 0, 0, Duration::ZERO);
        for event in &*events.lock().expect("nobody panics") {
            match event {
                PoolEvent::Opened => opened += 1,
                PoolEvent::WaitBegan => began += 1,
                PoolEvent::WaitEnded(time) => waited += *time,
                PoolEvent::Exhausted => exhausted += 1,
            }
        }
        let counted = (opened, began, exhausted, waited);
        assert_eq!(counted, (after.opened, after.waits, after.exhausted, after.waited), "whoever observes is told all");
    }
}

fn fixtures(make: Make, server: &Server) -> Vec<Fixture> {
    let pooled = Fixture::at(server);
    if make == Make::Postgres { vec![pooled, Fixture::at(server).pipelined()] } else { vec![pooled] }
}

/// Returns how many statements wait for a lock.
fn waiting(outside: &mut Outside) -> i64 {
    outside.number(match outside {
        Outside::Postgres(..) => "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
        _ => "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting%'",
    })
}

fn a_server_goes_and_comes_back(make: Make) {
    let mut server = Server::start(make);
    for mut fixture in fixtures(make, &server) {
        fixture.options.statement_timeout = Duration::from_secs(20);
        let (database, runtime) = (fixture.open(), runtime());
        for access in Access::ALL {
            // The pool has several connections with prepared statements.
            let warm = try_join_all((1..=3).map(|id| database.world(access, id)));
            runtime.block_on(warm).expect("they are there");
        }
        let (mut locking, mut looking) = (fixture.outside(), fixture.outside());
        locking.lock();
        let questions = Access::ALL.map(|access| database.world(access, 1));
        let since = Instant::now();
        let results = thread::scope(|scope| {
            scope.spawn(|| {
                // On a pipelined connection the builder's statement follows the driver's.
                let connections = if fixture.options.pipelined { 2 } else { 3 };
                wait_until("all of them wait", || (waiting(&mut looking) == connections).then_some(()));
                server.kill();
            });
            runtime.block_on(join_all(questions))
        });
        assert!(since.elapsed() < fixture.options.statement_timeout, "at once, not by a time-out");
        for (access, result) in Access::ALL.into_iter().zip(results) {
            gone(access, result);
            gone(access, runtime.block_on(database.item(access, 1)));
            gone(access, runtime.block_on(database.update(access, &[World { id: 1, random_number: 1 }])));
            gone(access, database.blocking().item(access, 1));
        }
        server.start_again();
        for access in Access::ALL {
            for id in 1..=5 {
                let item = runtime.block_on(database.item(access, id));
                assert_eq!(item.map(|item| item.id), Ok(id), "{access}: the first question is answered again");
            }
            assert_eq!(database.blocking().world(access, 7).map(|world| world.id), Ok(7), "{access}");
            nothing_is_half_written(&mut server, &database, access);
        }
    }
}

fn gone<T: std::fmt::Debug>(access: Access, result: Result<T, DataError>) {
    let error = result.expect_err("the server is gone");
    assert!(matches!(error.kind(), ErrorKind::Lost | ErrorKind::Refused), "{access}: {error:?}");
    assert!(error.is_temporary() && error.side() == Side::Network && !error.to_string().contains('\n'), "{error:?}");
}

/// Updates all rows to one number, again and again, until the server is killed.
fn nothing_is_half_written(server: &mut Server, database: &Database, access: Access) {
    let rows = |number| Vec::from_iter((1..=20).map(|id| World { id, random_number: number }));
    let (kept, other) = (AtomicI32::new(0), database.clone());
    thread::scope(|scope| {
        scope.spawn(|| {
            runtime().block_on(async {
                for number in 1.. {
                    match other.update(access, &rows(number)).await {
                        Ok(_) => kept.store(number, SeqCst),
                        Err(error) => return gone(access, Err::<(), _>(error)),
                    }
                }
            });
        });
        wait_until("some updates are done", || (kept.load(SeqCst) >= 10).then_some(()));
        server.kill();
    });
    server.start_again();
    let kept = kept.load(SeqCst);
    let worlds = database.blocking().worlds(Access::Raw, &Vec::from_iter(1..=20)).expect("they are there");
    let number = worlds[0].random_number;
    assert!(number == kept || number == kept + 1, "{access}: {number} after {kept} was kept");
    assert_eq!(worlds, rows(number), "{access}");
}

fn a_silent_server(make: Make) {
    let server = Server::start(make);
    for mut fixture in fixtures(make, &server) {
        fixture.options.statement_timeout = Duration::from_millis(200);
        fixture.options.connect_timeout = Duration::from_millis(300);
        fixture.options.acquire_timeout = Duration::from_millis(300);
        // With such short limits, a busy machine may need another attempt.
        let (database, runtime) = (wait_until("it opens", || fixture.try_open().ok()), runtime());
        for access in Access::ALL {
            wait_until("it results", || runtime.block_on(database.item(access, 1)).ok());
            server.stop();
            let since = Instant::now();
            for question in ["over the connection that is open", "over a new one"] {
                let error = runtime.block_on(database.item(access, 1)).expect_err("nobody results");
                assert_eq!(error.kind(), ErrorKind::TimedOut, "{access}, {question}: {error}");
            }
            assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
            let options = Options { connect_timeout: Duration::from_millis(100), ..fixture.options.clone() };
            let error = Database::open(&fixture.url, &options, |_| {}).expect_err("nobody results");
            assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
            // Of many concurrent operations, none waits for the timeouts of those before it.
            let since = Instant::now();
            let many = runtime.block_on(join_all((1..=40).map(|id| database.item(access, id))));
            for result in many {
                let kind = result.expect_err("nobody results").kind();
                assert!(matches!(kind, ErrorKind::TimedOut | ErrorKind::Exhausted), "{access}: {kind:?}");
            }
            assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
            server.go_on();
            wait_until("it results again", || {
                runtime.block_on(database.item(access, 1)).is_ok_and(|item| item.id == 1).then_some(())
            });
        }
    }
}

fn refused(make: Make) {
    let mut server = Server::start(make);
    let mut fixture = Fixture::at(&server);
    fixture.options.pool_size = 1;
    let (database, runtime) = (fixture.open(), runtime());
    for access in Access::ALL {
        runtime.block_on(database.item(access, 1)).expect("it is there");
    }
    let name = fixture.url.rsplit('/').next().expect("the URL has a path").to_owned();
    let open = |url: &str| Database::open(url, &fixture.options, |_| {}).expect_err("it cannot be used");
    let wrong = "a wrong password";
    let error = open(&server.url_with(wrong, &name));
    assert_eq!((error.kind(), error.side()), (ErrorKind::Denied, Side::Server), "{error}");
    let text = error.to_string();
    assert!(!text.contains(wrong) && !text.contains(PASSWORD) && !text.contains('\n'), "{text}");
    assert!(!error.is_temporary());
    let error = open(&server.url("no_such_database"));
    assert_eq!(error.kind(), ErrorKind::MissingDatabase, "{error}");
    let error = open(&server.url("").replace("127.0.0.1", "127.0.0.1:x"));
    assert_eq!((error.kind(), error.side()), (ErrorKind::BadUrl, Side::Client), "{error}");
    server.kill();
    let error = open(&fixture.url);
    assert_eq!((error.kind(), error.side()), (ErrorKind::Refused, Side::Network), "{error}");
    server.start_again();
    for access in Access::ALL {
        let item = runtime.block_on(database.item(access, 2));
        assert_eq!(item.map(|item| item.id), Ok(2), "{access}: the only connection of the pool is replaced");
    }
}
