//! The one line reloads the server: on a signal of the program's choice, and by a handle.

use super::scene::{flavours, free_port, in_time};
use super::{ask_at, hello};
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{mpsc, oneshot};
use torr_serve::{App, LogTarget, Response, ServeError, Server, Settings, serve};
use torr_test_support::wait_until;

#[test]
fn a_renamed_access_log_is_opened_again_on_the_signal_and_by_the_handle() {
    for runtime in flavours() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let (log, former) = (folder.path().join("log"), folder.path().join("log.1"));
        in_time(&runtime, async {
            let (listener, address) = free_port().await;
            let mut settings = Settings::default();
            settings.access_log = Some(LogTarget::File(log.clone()));
            let (request, mut requests) = mpsc::channel(1);
            let (stop, stopped) = oneshot::channel::<()>();
            let served = serve(listener, hello())
                .settings(settings)
                .with_reload_signal(move |cx| requests.poll_recv(cx))
                .with_graceful_shutdown(async { drop(stopped.await) });
            let reload = served.reload();
            reload.reload().expect("before the server runs nothing happens");
            let client = async {
                assert_eq!(ask_at(address).await, "hello");
                for by_handle in [false, true] {
                    fs::rename(&log, &former).expect("the log exists");
                    match by_handle {
                        true => reload.reload().expect("the folder takes a file"),
                        false => request.send(()).await.expect("the server runs"),
                    }
                    let exists = log.clone();
                    let opened = move || wait_until("a new log", || exists.exists().then_some(()));
                    tokio::task::spawn_blocking(opened).await.expect("it does not panic");
                    assert_eq!(ask_at(address).await, "hello", "the server continues");
                }
                // The end of the channel is no reload, and does not end the server.
                drop(request);
                assert_eq!(ask_at(address).await, "hello");
                fs::remove_file(&log).expect("the log exists");
                fs::create_dir(&log).expect("the name is free");
                let failed = reload.reload().expect_err("a folder is no log");
                assert!(matches!(failed, ServeError::Log { .. }), "{failed}");
                assert_eq!(ask_at(address).await, "hello", "the server continues");
                drop(stop);
            };
            let (served, ()) = tokio::join!(served.into_future(), client);
            served.expect("it ends well");
            reload.reload().expect("after the end nothing happens");
        });
    }
}

#[test]
fn a_running_server_calls_what_a_reload_is_to_do() -> io::Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let bound = Server::new(App::new().get("/", |_| Response::text("hello"))).bind("127.0.0.1:0")?;
    let bound = bound.on_reload(move || _ = counted.fetch_add(1, Ordering::Relaxed));
    let early = bound.reload();
    let runtime = flavours().into_iter().next().expect("there is a runtime");
    in_time(&runtime, async {
        let running = bound.run_async();
        running.reload().reload()?;
        early.reload()?;
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        running.stop().stop();
        // A server that stops is not reloaded any more.
        early.reload()?;
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        Ok(running.await?)
    })
}
