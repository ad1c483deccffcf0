//! Signals to a process with worker threads of its own. They reach the whole process, so this test is alone in it.

use rustix::process::{Signal, getpid, kill_process};
use std::sync::mpsc::channel;
use std::thread;
use torr_serve::{App, Response, Server};
use torr_test_support::PATIENCE;
use torr_test_support::client::Client;

#[test]
fn signals_to_reload_call_what_was_given_and_others_end_the_server() {
    let app = App::new().get("/", |_| Response::text("fine"));
    let bound = Server::new(app).bind("127.0.0.1:0").expect("a port is free");
    let bound = bound.watch_signals().expect("signals can be watched");
    let (tell_ready, ready) = channel();
    let (tell_reload, reloads) = channel();
    let (address, second) = (bound.address(), tell_reload.clone());
    let bound = bound
        .on_ready(move || tell_ready.send(()).expect("the test waits"))
        .on_reload(move || tell_reload.send("first").expect("the test waits"))
        // A panic ends neither the server nor what else is called.
        .on_reload(|| panic!("this is part of the test"))
        .on_reload(move || second.send("second").expect("the test waits"));
    let (tell_end, end) = channel();
    thread::spawn(move || tell_end.send(bound.run_until_signal()));
    ready.recv_timeout(PATIENCE).expect("it gets ready");
    let mut client = Client::connect(address);
    for signal in [Signal::HUP, Signal::USR2] {
        kill_process(getpid(), signal).expect("a process may send itself signals");
        let called = [(); 2].map(|()| reloads.recv_timeout(PATIENCE).expect("it is called"));
        assert_eq!(called, ["first", "second"], "{signal:?}");
        let response = client.get("/");
        assert_eq!((response.text(), response.field("Connection")), ("fine", None), "{signal:?}: {response:?}");
    }
    kill_process(getpid(), Signal::QUIT).expect("a process may send itself signals");
    client.ends();
    drop(client);
    end.recv_timeout(PATIENCE).expect("it ends").expect("it serves");
    reloads.try_recv().expect_err("nothing was called once more");
}
