//! `torr wrk -s` beside the real wrk: the scripts of wrk's users run unchanged, and the server sees the same requests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use torr_test_support::program::{Ended, Running, run, torr, torr_command};
use torr_test_support::script::{Client, OK, Script};
use torr_test_support::wait_until;

/// A script in a folder of its own.
pub struct File {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl File {
    pub fn new(name: &str, source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, source).unwrap();
        Self { folder, path }
    }

    pub fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }

    pub fn beside(&self) -> &Path {
        self.folder.path()
    }
}

/// A server that responds soon, but not as fast as it can: two programs at once would fill the machine.
pub fn server() -> Script {
    Script::start(|client: &mut Client| {
        while let Some(request) = client.request() {
            thread::sleep(Duration::from_micros(500));
            match request.starts_with(b"GET /authenticate ") {
                true => client.send(b"HTTP/1.1 200 OK\r\nX-Token: secret\r\nContent-Length: 2\r\n\r\nok"),
                false => client.send(OK),
            }
        }
    })
}

/// Runs one of the two programs with a script, on one connection of one thread unless the arguments say otherwise.
fn press(program: &str, script: &str, args: &[&str], url: &str, arguments: &[&str]) -> Ended {
    // A machine whose CPUs have other work for a second leaves another one.
    let all = [&["-s", script, "-d2", "-c1", "-t1"], args, &[url], &["--"], arguments].concat();
    match program {
        "wrk" => run("wrk", &all),
        _ => torr(&[&["wrk"], all.as_slice()].concat()),
    }
}

/// What a server saw of a program, and what the program printed.
struct Seen {
    requests: Vec<Vec<String>>,
    ended: Ended,
}

fn see(program: &str, script: &File, args: &[&str], arguments: &[&str]) -> Seen {
    let server = server();
    let ended = press(program, script.path(), args, &format!("{}a?b=c", server.url()), arguments);
    assert_eq!(ended.code, Some(0), "{program}: {ended:?}");
    let port = server.address.port().to_string();
    let in_order = |text: String| {
        let mut lines: Vec<_> = text.replace(&port, "PORT").lines().map(str::to_owned).collect();
        // The order in which a Lua table gives its fields is chance.
        lines[1..].sort_unstable();
        lines
    };
    let ended = Ended { stdout: ended.stdout.replace(&port, "PORT"), ..ended };
    Seen { requests: server.texts().into_iter().map(in_order).collect(), ended }
}

/// Runs a script with both programs; the requests that both sent in their order are equal. Returns what Torr did.
fn both(source: &str, args: &[&str], arguments: &[&str]) -> (Seen, Seen) {
    let script = File::new("script.lua", source);
    let (theirs, ours) = (see("wrk", &script, args, arguments), see("torr wrk", &script, args, arguments));
    let count = theirs.requests.len().min(ours.requests.len()).min(200);
    assert!(count >= 3, "{:?} {:?}", theirs.ended, ours.ended);
    assert_eq!(ours.requests[..count], theirs.requests[..count]);
    (theirs, ours)
}

/// What stands before the heading of a run, and what after its last line.
fn own_lines(ended: &Ended) -> (Vec<String>, Vec<String>) {
    let lines: Vec<_> = ended.stdout.lines().map(str::to_owned).collect();
    let heading = lines.iter().position(|line| line.starts_with("Running ")).expect("there is a heading");
    let last = lines.iter().position(|line| line.starts_with("Transfer/sec:")).expect("there is a report");
    (lines[..heading].to_vec(), lines[last + 1..].to_vec())
}

#[test]
fn a_random_address_is_chosen_for_each_thread() {
    let source = r#"
        local addrs
        function setup(thread)
            if not addrs then
                addrs = wrk.lookup(wrk.host, wrk.port or "http")
                for i = #addrs, 1, -1 do
                    if not wrk.connect(addrs[i]) then table.remove(addrs, i) end
                end
            end
            thread.addr = addrs[math.random(#addrs)]
        end
        function init(args) print(("address of the thread: %s"):format(tostring(wrk.thread.addr))) end
    "#;
    let (theirs, ours) = both(source, &["-t2", "-c2"], &[]);
    assert_eq!(own_lines(&ours.ended), own_lines(&theirs.ended));
    assert_eq!(own_lines(&ours.ended).0, ["address of the thread: 127.0.0.1:PORT"; 2]);
}

#[test]
fn a_thread_goes_to_the_address_that_the_script_gave_it() {
    let (named, chosen) = (server(), server());
    let source =
        format!("function setup(thread) thread.addr = wrk.lookup('127.0.0.1', '{}')[1] end", chosen.address.port());
    let script = File::new("addr.lua", &source);
    let ended = press("torr wrk", script.path(), &[], &named.url(), &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(chosen.requests() > 3 && named.requests() == 0, "{ended:?}");
}

#[test]
fn a_token_is_taken_from_a_response() {
    let source = r#"
        local token, path = nil, "/authenticate"
        function request() return wrk.format("GET", path) end
        function response(status, headers, body)
            if not token and status == 200 then
                token = headers["X-Token"]
                path = "/resource"
                wrk.headers["X-Token"] = token
            end
        end
    "#;
    let (_, ours) = both(source, &[], &[]);
    let with_token = ours.requests.iter().filter(|lines| lines.contains(&"X-Token: secret".to_owned()));
    assert_eq!(with_token.count(), ours.requests.iter().filter(|lines| lines[0] == "GET /resource HTTP/1.1").count());
}

#[test]
fn a_counter_stands_in_path_and_field() {
    let source = r#"
        local counter = 0
        function request()
            local path = "/" .. counter
            wrk.headers["X-Counter"] = counter
            counter = counter + 1
            return wrk.format(nil, path)
        end
    "#;
    let (_, ours) = both(source, &[], &[]);
    assert!(ours.requests.iter().any(|lines| lines[0] == "GET /7 HTTP/1.1"), "{:?}", ours.ended);
}

#[test]
fn a_delay_comes_before_each_request() {
    let source = "function delay() return math.random(10, 50) end";
    let (theirs, ours) = both(source, &[], &[]);
    // Of one connection within a second, at 10 to 50 ms each.
    for seen in [&theirs, &ours] {
        assert!((10..=100).contains(&seen.requests.len()), "{}: {:?}", seen.requests.len(), seen.ended);
    }
}

#[test]
fn requests_in_one_text_are_pipelined() {
    let source = r#"
        local all
        function init(args)
            all = wrk.format(nil, "/one") .. wrk.format(nil, "/two") .. wrk.format("POST", "/three", nil, "x=1")
        end
        function request() return all end
    "#;
    let (_, ours) = both(source, &[], &[]);
    let paths: Vec<_> = ours.requests.iter().map(|lines| lines[0].split(' ').nth(1).unwrap()).collect();
    for (position, path) in paths.iter().enumerate() {
        assert_eq!(*path, ["/one", "/two", "/three"][position % 3]);
    }
    // So many are in flight at once: the server reads the third before it has answered the first.
    let most = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&most);
    let server = Script::start(move |client: &mut Client| {
        while client.request().is_some() {
            let mut together = 1;
            while together < 3 && client.request().is_some() {
                together += 1;
            }
            seen.fetch_max(together, Ordering::Relaxed);
            (0..together).for_each(|_| client.send(OK));
        }
    });
    let script = File::new("pipeline.lua", source);
    let ended = press("torr wrk", script.path(), &["-c2"], &server.url(), &[]);
    assert_eq!((ended.code, most.load(Ordering::Relaxed)), (Some(0), 3), "{ended:?}");
}

#[test]
fn pipelined_requests_without_a_response_go_on_another_connection() {
    let source = r#"
        local count = 0
        function request()
            count = count + 1
            return wrk.format(nil, "/" .. count .. "a") .. wrk.format(nil, "/" .. count .. "b")
        end
    "#;
    // Each connection ends after one response.
    let server = Script::start(|client: &mut Client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let script = File::new("pipeline.lua", source);
    let ended = press("torr wrk", script.path(), &[], &server.url(), &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let paths: Vec<_> =
        server.texts().iter().map(|text| text.split(' ').nth(1).unwrap_or_default().to_owned()).collect();
    assert!(paths.len() > 4, "{paths:?} {ended:?}");
    assert_eq!(paths[..4], ["/2a", "/2b", "/3a", "/3b"], "each is answered once: {ended:?}");
}

#[test]
fn a_post_with_content_and_type() {
    let source = r#"
        wrk.method = "POST"
        wrk.body = "foo=bar&baz=quux"
        wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
    "#;
    let (_, ours) = both(source, &["-H", "X: y"], &[]);
    assert_eq!(ours.requests[0][0], "POST /a?b=c HTTP/1.1");
}

#[test]
fn a_report_in_the_scripts_own_format() {
    let source = r#"
        function done(summary, latency, requests)
            io.write("---\n")
            for _, p in ipairs { 50, 90, 99, 99.999 } do
                io.write(("%g%%,%d\n"):format(p, latency:percentile(p)))
            end
            local errors = summary.errors
            print(errors.connect, errors.read, errors.write, errors.status, errors.timeout)
            print(summary.duration > 9e5, summary.requests > 3, summary.bytes > summary.requests)
            print(latency.min <= latency.mean, latency.mean <= latency.max, latency.stdev >= 0)
            print(requests.max > 0, #latency > 0, select('#', latency(1)), (latency(1)) == latency.min)
        end
    "#;
    let (theirs, ours) = both(source, &[], &[]);
    let (their_lines, our_lines) = (own_lines(&theirs.ended).1, own_lines(&ours.ended).1);
    let label = |line: &String| line.split(',').next().unwrap_or_default().to_owned();
    assert_eq!(our_lines.iter().map(label).collect::<Vec<_>>(), their_lines.iter().map(label).collect::<Vec<_>>());
    assert_eq!(our_lines[5..], their_lines[5..]);
}

#[test]
fn values_pass_between_the_states_of_setup_and_threads() {
    let source = r#"
        local threads = {}
        function setup(thread)
            threads[#threads + 1] = thread
            thread:set("id", #threads)
            thread:set("list", { 1, "two" })
        end
        function init(args)
            requests, responses = 0, 0
            print(("thread %d: %s %s %d"):format(id, args[1], args[2], #args), args[0] ~= nil, list[2])
        end
        function request() requests = requests + 1 return wrk.request() end
        function response() responses = responses + 1 end
        function done()
            for _, thread in ipairs(threads) do
                local made, got = thread:get("requests"), thread:get("responses")
                print(thread:get("id"), made > 1, got > 1, made - got <= 2)
            end
        end
    "#;
    let (theirs, ours) = both(source, &["-t2", "-c2"], &["one", "two"]);
    let (their_lines, our_lines) = (own_lines(&theirs.ended), own_lines(&ours.ended));
    assert_eq!(our_lines.0, their_lines.0);
    assert_eq!(our_lines.1[..2], their_lines.1[..2]);
}

#[test]
fn odd_values_are_what_they_are_with_wrk() {
    let source = r#"
        function setup(thread) thread:set("id", thread.id) end
        function init(args) print("thread " .. id) end
        local n = 0
        function request()
            n = n + 1
            return wrk.format("POST", "/" .. n, { ["X-Number"] = n, ["X-Bool"] = true }, n % 2 == 0 and 12345 or "v" .. n)
        end
        function done(summary, latency) print((latency(0)), (latency(1e9)), summary.errors.none) end
    "#;
    let (theirs, ours) = both(source, &[], &[]);
    assert_eq!(own_lines(&ours.ended), own_lines(&theirs.ended));
}

#[test]
fn a_thread_stops_when_the_script_says_so() {
    let source = r#"
        local responses = 0
        function response()
            responses = responses + 1
            if responses == 100 then wrk.thread:stop() end
        end
    "#;
    let (theirs, ours) = both(source, &["-c2"], &[]);
    for seen in [&theirs, &ours] {
        // Those in flight at the end may not be counted. The other connection's response may be read together with the
        // hundredth, and both connections may have sent their next requests by then.
        assert!((99..=103).contains(&seen.requests.len()), "{}: {:?}", seen.requests.len(), seen.ended);
    }
}

#[test]
fn a_file_beside_the_script_is_found() {
    let script = File::new("main.lua", "local helper = require 'helper'\nfunction request() return helper.make() end");
    fs::write(script.beside().join("helper.lua"), "return { make = function() return wrk.format(nil, '/h') end }")
        .unwrap();
    let seen = see("torr wrk", &script, &[], &[]);
    assert!(seen.requests.len() > 3 && seen.requests[0][0] == "GET /h HTTP/1.1", "{:?}", seen.ended);
}

#[test]
fn a_script_error_is_one_line_with_its_position_and_nothing_is_sent() {
    for (source, position, what) in [
        ("local x = = 1\n", ":1: ", "unexpected symbol near"),
        ("\nlocal x = nil + 1", ":2: ", "arithmetic on a nil value"),
        ("function setup(thread)\n  thread.addr = 1\nend", ":2: in setup(): ", "needs an address from wrk.lookup"),
        ("function setup(thread)\n  thread:set('x', print)\nend", ":2: in setup(): ", "cannot transfer a function"),
        ("function init(args)\n\n  nothing()\nend", ":3: in init(): ", "attempt to call global 'nothing'"),
        ("function init(args)\n  wrk.lookup('no.such.host.invalid', 'http')\nend", ":2: in init(): ", "cannot resolve"),
        ("function init(args)\n  require('nowhere')\nend", ":2: in init(): ", "module 'nowhere' not found"),
        ("function request()\n  error('enough')\nend", ":2: in request(): ", "enough"),
        ("function request()\n  error({})\nend", ":2: in request(): ", "table"),
        ("function request()\n  local text = wrk.format(nil, {})\n  return text\nend", ":2: in request(): ", "concat"),
        ("function request() end", ": in request(): ", "it must return the bytes of a request, found nil"),
        ("function request() return '' end", ": in request(): ", "invalid request"),
        ("function request() return 'hello' end", ": in request(): ", "invalid request"),
    ] {
        let (server, script) = (server(), File::new("bad.lua", source));
        let ended = press("torr wrk", script.path(), &[], &server.url(), &[]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{source}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{source}: {ended:?}");
        let expected = format!("torr: {}{position}", script.path());
        assert!(ended.stderr.starts_with(&expected) && ended.stderr.contains(what), "{source}: {ended:?}");
        assert_eq!(server.requests(), 0, "{source}");
    }
    let missing = press("torr wrk", "nowhere.lua", &[], "http://127.0.0.1:1/", &[]);
    assert_eq!((missing.code, missing.stderr.as_str()), (Some(2), "torr: nowhere.lua: no such file\n"));
}

#[test]
fn a_script_error_during_the_run_ends_it_and_keeps_the_report() {
    let counting = "local n = 0\nlocal function count()\n  n = n + 1\n  if n > 20 then error('enough') end\nend\n";
    for (source, position) in [
        ("function request()\n  count()\n  return wrk.format()\nend", "request"),
        ("function response()\n  count()\nend", "response"),
        ("function delay()\n  count()\n  return 1\nend", "delay"),
    ] {
        let (server, script) = (server(), File::new("late.lua", &format!("{counting}{source}")));
        let ended = press("torr wrk", script.path(), &["-d1m"], &server.url(), &[]);
        assert_eq!(ended.code, Some(1), "{source}: {ended:?}");
        assert!(ended.stdout.contains("Requests/sec:"), "{source}: {ended:?}");
        let expected = format!("torr: {}:4: in {position}(): enough", script.path());
        assert_eq!(ended.stderr.lines().filter(|line| *line == expected).count(), 1, "{source}: {ended:?}");
        assert!((10..50).contains(&server.requests()), "{source}: {ended:?}");
    }
    let (server, script) = (server(), File::new("late.lua", "function done()\n  nothing()\nend"));
    let ended = press("torr wrk", script.path(), &[], &server.url(), &[]);
    assert!(ended.code == Some(1) && ended.stdout.contains("Requests/sec:"), "{ended:?}");
    assert!(ended.stderr.contains(&format!("{}:2: in done(): attempt to call", script.path())), "{ended:?}");
}

/// Compiled by LuaJIT such a loop looks at nothing: neither a hook nor a signal of the run.
const ENDLESS: &str = "local n = 0\nfunction request()\n  n = n + 1\n  while n > 3 do end\n  return wrk.format()\nend";

#[test]
fn an_endless_loop_is_ended_with_the_run() {
    let (server, script) = (server(), File::new("loop.lua", ENDLESS));
    let ended = press("torr wrk", script.path(), &["-t2", "-c2"], &server.url(), &[]);
    assert!(ended.code == Some(1) && ended.stdout.contains("Requests/sec:"), "{ended:?}");
    let expected = format!("torr: {}: in request(): it was still running 2 s after the end of the run", script.path());
    assert_eq!(ended.stderr.lines().filter(|line| *line == expected).count(), 1, "{ended:?}");
}

#[test]
fn an_interruption_ends_an_endless_loop() {
    let (server, script) = (server(), File::new("loop.lua", ENDLESS));
    let running = Running::start(torr_command(&["wrk", "-s", script.path(), "-c1", "-t1", "-d10m", &server.url()]));
    wait_until("requests", || (server.requests() >= 2).then_some(()));
    running.signal("INT");
    let ended = running.wait();
    assert!(ended.code == Some(1) && ended.stdout.contains("Requests/sec:"), "{ended:?}");
    assert!(ended.stderr.contains("in request(): it was still running"), "{ended:?}");

    // Before anything is sent, and after everything.
    for source in ["MARK while true do end", "function done() MARK while true do end end"] {
        let marks = tempfile::tempdir().unwrap();
        let mark = marks.path().join("mark");
        let script =
            File::new("loop.lua", &source.replace("MARK", &format!("io.open('{}', 'w'):close()", mark.display())));
        let running = Running::start(torr_command(&["wrk", "-s", script.path(), "-c1", "-t1", "-d1", &server.url()]));
        wait_until("the loop", || mark.exists().then_some(()));
        running.signal("INT");
        assert_ne!(running.wait().code, Some(0), "{source}");
    }
}

#[test]
fn statistics_have_the_names_and_metatables_of_wrk() {
    let source = "function done(summary, latency, requests)\n\
        print('sum ' .. requests.total .. ', p95 ' .. latency.p95 .. ' ' .. type(latency[1]))\n\
        local m = getmetatable(latency)\n  print(type(m), m._NAME, type(m.__index), type(latency))\n\
        print(m.__index(latency, 'max') == latency.max, m.__len(latency) == #latency)\nend";
    let (server, script) = (server(), File::new("stats.lua", source));
    let [torr, wrk] = ["torr", "wrk"].map(|program| {
        let ended = press(program, script.path(), &[], &server.url(), &[]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let lines = ended.stdout.lines().skip_while(|line| !line.starts_with("sum ")).map(str::to_owned);
        lines.collect::<Vec<_>>()
    });
    assert_eq!(torr[0], "sum total, p95 p95 string", "{torr:?}");
    assert_eq!(torr, wrk);
}
