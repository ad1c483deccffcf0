//! What agents and coordinators of `torr fleet` refuse, each in one clear line.

use crate::fleet::Target;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use torr_test_support::nats::{NatsServer, respond};
use torr_test_support::program::{Running, torr, torr_command};
use torr_test_support::supervised::Supervised;
use torr_test_support::wait_until;

#[test]
fn an_agent_loads_nothing_that_its_user_did_not_allow() {
    let (nats, mut target) = (NatsServer::start(), Target::start());
    let _allowing = nats.agent("allowing", &[]);
    let refusing = nats.agent("refusing", &["--allow", "127.0.0.1:1,localhost:2"]);
    let url = target.url();
    let refused = Running::start(nats.run_of_fleet(&["--agents", "2", "--", &url, "-d", "5s"])).wait();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let line = refused.stderr.lines().last().unwrap_or_default().to_owned();
    assert!(line.contains("agent refusing rejected the run: it may not load 127.0.0.1:"), "{refused:?}");
    assert!(line.contains("only 127.0.0.1/32:1, localhost:2"), "{refused:?}");
    refusing.says("refused");
    assert_eq!(target.responses(), 0, "the other agent has not begun");
    let long = ["--agents", "2", "--", &url, "-d", "2day"];
    let refused = Running::start(nats.run_of_fleet(&long)).wait();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("must not be longer than 1day"), "{refused:?}");
    // A plan's own addresses change nothing.
    let moved = "example.test:80:192.0.2.1";
    let args = ["--agents", "2", "--", "http://example.test/", "--resolve", moved, "-d", "5s"];
    let refused = Running::start(nats.run_of_fleet(&args)).wait();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("it may not load 192.0.2.1:80"), "{refused:?}");
}

#[test]
fn beyond_loopback_an_agent_needs_credentials() {
    for allowed in ["0.0.0.0/0", "shop.test:443", "10.0.0.1"] {
        let refused = torr(&["fleet", "agent", "--nats", "nats://127.0.0.1:1", "--allow", allowed]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("needs credentials"), "{refused:?}");
    }
}

#[test]
fn a_target_that_an_agent_cannot_reach_is_not_reached_at_all() {
    let nats = NatsServer::start();
    let _agent = nats.agent("one", &[]);
    let run = Running::start(nats.run_of_fleet(&["--agents", "1", "--", "http://127.0.0.1:1/", "-d", "5s"])).wait();
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(run.stderr.contains("agent one rejected the run: it cannot connect to 127.0.0.1:1"), "{run:?}");
}

#[test]
fn another_version_is_refused_by_name() {
    let nats = NatsServer::start();
    let hello = r#"{"agent":"old","torr":"0.0.9","cores":1,"ceiling":1.0,"allow":[],"run":null}"#;
    respond(&nats.address(), "torr.mixed.call", format!(r#"{{"version":1,"message":{{"hello":{hello}}}}}"#));
    let run = |fleet: &str| {
        let args = ["--agents", "1", "--fleet", fleet, "--", "http://127.0.0.1:1/", "-d", "5s"];
        Running::start(nats.run_of_fleet(&args)).wait()
    };
    let mixed = run("mixed");
    assert_eq!(mixed.code, Some(1), "{mixed:?}");
    assert!(mixed.stderr.contains("agent old is torr 0.0.9, this is torr "), "{mixed:?}");
    respond(&nats.address(), "torr.later.call", r#"{"version":2,"message":{"greeting":{}}}"#.into());
    let later = run("later");
    assert_eq!(later.code, Some(1), "{later:?}");
    assert!(later.stderr.contains("expected version 1 of the fleet protocol, found version 2"), "{later:?}");
}

#[test]
fn too_few_agents_are_waited_for_with_an_end() {
    let nats = NatsServer::start();
    let _agent = nats.agent("one", &[]);
    let few = nats.run_of_fleet(&["--agents", "2", "--wait", "3s", "--", "http://127.0.0.1:1/", "-d", "5s"]);
    let few = Running::start(few).wait();
    assert_eq!(few.code, Some(1), "{few:?}");
    assert!(few.stderr.contains("1 of 2 agents of fleet default responded within 3s"), "{few:?}");
    let gone = torr(&["fleet", "list", "--nats", "nats://127.0.0.1:1"]);
    assert_eq!(gone.code, Some(1), "{gone:?}");
    assert!(gone.stderr.contains("NATS at 127.0.0.1:1: connection refused: start 'nats-server'"), "{gone:?}");
    let none = torr(&["fleet", "list", "--nats", &nats.url(), "--fleet", "none", "--wait", "300ms"]);
    assert!(none.stderr.contains("'torr fleet agent --fleet none --nats "), "{none:?}");
    assert_eq!((none.code, none.stderr.lines().count()), (Some(0), 1), "{none:?}");
    for (args, words) in [
        (&["--fleet", "none"][..], "no agent of fleet none responded"),
        (&["nosuch"], "no agent that responded is running 'nosuch'"),
    ] {
        let stopped = torr(&[&["fleet", "stop", "--nats", &nats.url()], args].concat());
        assert_eq!((stopped.code, stopped.stderr.lines().count()), (Some(1), 1), "{stopped:?}");
        assert!(stopped.stderr.contains(words), "{stopped:?}");
    }
}

#[test]
fn mistakes_get_one_line_before_anything_is_sent() {
    for (words, hint) in [
        (&["http://127.0.0.1:1/", "-n", "10"][..], "add -d to -n"),
        (&["http://127.0.0.1:1/", "--data", "@/no/such/file"], "/no/such/file"),
        (&["http://127.0.0.1:1/", "--form", "a=@/no/such/file"], "/no/such/file"),
        (&["http://127.0.0.1:1/", "-H", "A: {{env HOME}}"], "'{{env HOME}}' is not supported in a fleet"),
        (&["http://127.0.0.1:1/", "--proxy", "127.0.0.1:2"], "--proxy is not supported in a fleet"),
        (&["http://127.0.0.1:1/", "--unix-socket", "/x"], "--unix-socket is not supported in a fleet"),
        (&["http://127.0.0.1:1/", "--no-such-flag"], "--no-such-flag"),
        (&["none.hurl"], "no such file"),
        (&["doctor", "http://127.0.0.1:1/"], "a fleet needs a URL"),
        (&["http://127.0.0.1:1/", "--fail-if", "p99"], "p99"),
    ] {
        let refused = torr(&[&["fleet", "run", "--nats", "nats://127.0.0.1:1", "--"], words].concat());
        assert_eq!(refused.code, Some(2), "{words:?}: {refused:?}");
        let one_line = refused.stderr.lines().count() == 1;
        assert!(one_line && refused.stderr.contains(hint), "{words:?}: {refused:?}");
    }
    for (args, hint) in [
        (&["agent", "--fleet", "a.b"][..], "invalid name 'a.b'"),
        (&["agent", "--allow", "http://a/"], "expected HOST, HOST:PORT or a network"),
        (&["list", "--nats", "http://127.0.0.1"], "--nats must be"),
        (&["run", "--"], "TARGET AND FLAGS"),
        (&["run", "http://127.0.0.1:1/", "-d", "1s"], "must follow '--'"),
        (&["run", "-d", "1s", "http://127.0.0.1:1/"], "must follow '--'"),
    ] {
        let refused = torr(&[&["fleet"], args].concat());
        assert_eq!(refused.code, Some(2), "{args:?}: {refused:?}");
        assert!(refused.stderr.contains(hint) && refused.stderr.lines().count() <= 3, "{args:?}: {refused:?}");
    }
}

#[test]
fn a_name_belongs_to_one_agent() {
    let nats = NatsServer::start();
    let first = nats.agent("one", &[]);
    let url = nats.url();
    let second = torr(&["fleet", "agent", "--nats", &url, "--name", "one", "--ceiling", "1"]);
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.stderr.contains("fleet default already has an agent one"), "{second:?}");
    first.signal("KILL");
    wait_until("the name to be free", || {
        let listed = torr(&["fleet", "list", "--nats", &url, "--wait", "300ms"]);
        listed.stdout.is_empty().then_some(())
    });
    let _again = nats.agent("one", &[]);
}

#[test]
fn the_permissions_of_the_page_make_an_agent_and_no_coordinator() {
    let page = include_str!("../../crates/torr-fleet/PROTOCOL.md");
    let permissions =
        page.split("may only be the agent `AGENT` needs to subscribe to").nth(1).expect("the page has them");
    let (subscribe, publish) = permissions.split_once("and to publish to").expect("both are there");
    let subjects = |text: &str| {
        let quoted = text.split('`').skip(1).step_by(2).take_while(|subject| !subject.is_empty());
        quoted.map(|subject| format!("{:?}", subject.replace("FLEET", "default"))).collect::<Vec<_>>().join(", ")
    };
    let (subscribe, publish) = (subjects(subscribe), subjects(publish.split("\n\n").next().unwrap_or_default()));
    assert!(publish.contains("from.AGENT") && !publish.contains("torr.default.agent"), "{publish}");
    let user = |name: &str, agent: &str| {
        let [subscribe, publish] = [&subscribe, &publish].map(|subjects| subjects.replace("AGENT", agent));
        format!(
            "{{ user: {name}, password: x, permissions: {{ subscribe: [{subscribe}], publish: [{publish}], \
             allow_responses: true }} }}"
        )
    };
    let nats = NatsServer::start_with(&format!(
        "authorization {{ users: [ {{ user: all, password: x }}, {}, {} ] }}",
        user("agent", "one"),
        user("other", "two")
    ));
    let (address, mut target) = (nats.address(), Target::start());
    let command = |user: &str, words: &[&str]| {
        let url = format!("nats://{user}:x@{address}");
        torr_command(&[&["fleet", words[0], "--nats", &url], &words[1..]].concat())
    };
    let agent = ["agent", "--name", "one", "--ceiling", "1000"];
    let first = Supervised::spawn(command("agent", &agent));
    first.says("is ready");
    let second = Running::start(command("agent", &agent)).wait();
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.stderr.contains("already has an agent one"), "{second:?}");
    let url = target.url();
    let run = ["run", "--agents", "1", "--", &url, "-n", "20", "-c", "2", "-d", "20s"];
    let loaded = Running::start(command("all", &run)).wait();
    assert_eq!((loaded.code, target.responses()), (Some(0), 20), "{loaded:?}");
    // An agent's user cannot have others press.
    let refused = Running::start(command("agent", &["run", "--agents", "1", "--wait", "1s", "--", &url])).wait();
    assert!(refused.code != Some(0) && target.responses() == 20, "{refused:?}");
    // It can send no plan, nor read another's or speak for it.
    for line in [
        "PUB torr.default.agent.one 2\r\n{}",
        "PUB torr.default.run.x.from.one 2\r\n{}",
        "SUB torr.default.agent.one 1",
        "SUB torr.default.agent.* 1",
        "SUB _INBOX.> 1",
    ] {
        let said = said_to("other", &address, line);
        assert!(said.contains("Permissions Violation"), "{line}: {said}");
    }
    assert!(!said_to("other", &address, "SUB torr.default.agent.two 1").contains("Violation"));
}

/// Says something in NATS' text protocol, and returns what the server says to it.
fn said_to(user: &str, address: &str, line: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let login = format!("CONNECT {{\"verbose\":false,\"user\":\"{user}\",\"pass\":\"x\"}}\r\n");
    write!(stream, "{login}{line}\r\nPING\r\n").expect("the server reads");
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.take_while(|line| line != "PONG").collect::<Vec<_>>().join("\n")
}
