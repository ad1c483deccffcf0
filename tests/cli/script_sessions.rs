//! `torr URL --script` and `torr FILE.lua`: scripts with the flags of a URL, and sessions as straight code.

use crate::scripts::{File, server};
use std::fs;
use torr_test_support::guide::{self, commands};
use torr_test_support::program::{torr, torr_command};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Serve;

#[test]
fn a_script_goes_with_the_flags_of_a_url() {
    let source = r#"
        function init(args)
            print("arguments", #args, args[1], args[2])
            wrk.headers["X-Own"] = "1"
        end
        local n = 0
        function request()
            n = n + 1
            return wrk.format(nil, "/" .. n)
        end
        function done(summary) print("requests", summary.requests) end
    "#;
    let (server, script) = (server(), File::new("load.lua", source));
    let url = format!("{}x", server.url());
    let json = script.beside().join("r.json");
    let flags = ["-c1", "-t1", "-n5", "-H", "X: y", "-A", "me", "-d", "30s", "--json", json.to_str().unwrap()];
    let ended = torr(&[&[&url, "--script", script.path()], &flags[..], &["--", "one", "two"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stdout.starts_with("arguments\t2\tone\ttwo\n") && ended.stdout.ends_with("requests\t5\n"),
        "{ended:?}"
    );
    let texts = server.texts();
    let paths: Vec<_> = texts.iter().map(|text| text.split(' ').nth(1).unwrap_or_default()).collect();
    assert_eq!(paths, ["/2", "/3", "/4", "/5", "/6"], "the first is looked at and not sent, as with wrk");
    for line in ["X: y\r\n", "X-Own: 1\r\n", "User-Agent: me\r\n"] {
        assert!(texts[0].contains(line), "{line}: {}", texts[0]);
    }
    let result: serde_json::Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((result["requests"].as_u64(), result["asked"].as_u64()), (Some(5), Some(5)));
    assert!(result.get("sessions").is_none(), "a request is no session");

    // Standard output belongs to the result.
    let ended = torr(&[&url, "--script", script.path(), "-c1", "-t1", "-n2", "--json", "-"]);
    assert!(ended.code == Some(0) && ended.stderr.contains("requests\t2"), "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["requests"].as_u64(), Some(2));

    for (args, what) in [
        (&["--pipeline", "4"][..], "drop --pipeline"),
        (&["--expect-status", "200"], "cannot be used with this script"),
        (&["--setup", "a.hurl"], "--setup is not supported for scripts"),
        (&["--urls", "list"], "--urls"),
    ] {
        let ended = torr(&[&[url.as_str(), "--script", script.path()], args].concat());
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(what), "{args:?}: {ended:?}");
    }
}

#[test]
fn a_script_goes_over_http2_and_over_a_connection_for_each_request() {
    let serve = Serve::start(&[]);
    let source = "local n = 0\nfunction request()\n  n = n + 1\n  return wrk.format('GET', '/bytes/' .. n % 10 + 1)\nend\n\
                  function response(status, headers, body)\n  assert(status == 200 and #body > 0)\n  assert(headers['Content-Length'] and not headers['X'])\nend";
    let script = File::new("h2.lua", source);
    for flags in [&["--http2-prior-knowledge"][..], &["--no-keepalive"]] {
        let url = serve.url("/");
        let args = [&[&*url, "--script", script.path(), "-c2", "-n20", "--json", "-"], flags].concat();
        let ended = torr(&args);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(result["status"]["200"].as_u64(), Some(20), "{ended:?}");
    }
}

/// A shop that knows its customers by a token, and counts its visitors by a cookie.
fn shop(client: &mut Client) {
    while let Some(request) = client.request() {
        let text = String::from_utf8_lossy(&request).into_owned();
        let content = text.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned();
        let (status, fields, body) = match text.split(' ').take(2).collect::<Vec<_>>()[..] {
            ["POST", "/login"] => {
                let user = serde_json::from_str::<serde_json::Value>(&content).unwrap()["user"].to_string();
                ("200 OK", "Set-Cookie: sid=7; Path=/\r\n", format!("{{\"token\": {user}, \"items\": [1, 2, 3]}}"))
            }
            ["GET", path] if path.starts_with("/items/") => {
                let known = text.contains("Authorization: Bearer ann") && text.contains("Cookie: sid=7");
                let status = if known { "200 OK" } else { "403 Forbidden" };
                (status, "Content-Type: application/json\r\n", format!("{{\"path\": \"{path}\"}}"))
            }
            _ => ("404 Not Found", "", String::new()),
        };
        let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
        client.send((head + &body).as_bytes());
    }
}

const SHOPPING: &str = r#"
    function session(user)
        local login = http.post("/login", { json = { user = user.vars.name }, name = "log in" })
        user.check("logged in", login.status == 200)
        user.vars.token = login:json("$.token")
        user.think(0.001, 0.005)
        for item = 1, #login:json("$.items[*]") do
            local got = http.get("/items/" .. item, {
                headers = { Authorization = "Bearer " .. user.vars.token },
                query = { q = "a b" },
            })
            user.check("the item's own path", got:json("$.path") == "/items/" .. item .. "?q=a%20b")
            user.check("nothing strange", got:header("x-strange") == nil)
        end
    end
"#;

#[test]
fn a_session_reads_like_straight_code() {
    let (server, script) = (Script::start(shop), File::new("shop.lua", SHOPPING));
    let args = ["--script", script.path(), "--variable", "name=ann", "-c3", "-t2", "-n12", "--json", "-"];
    let ended = torr(&[&[&*server.url()], &args[..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["sessions"]["finished"].as_u64(), Some(12), "{ended:?}");
    assert_eq!((result["requests"].as_u64(), result["status"]["200"].as_u64()), (Some(48), Some(48)), "{ended:?}");
    let names: Vec<_> = result["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str()).collect();
    assert_eq!(names, [Some("log in"), Some("GET /items/{n}")]);
    assert_eq!(server.connections(), 3, "each user has a connection of its own");

    // A file that names its target is one itself.
    let script = File::new("shop.lua", &format!("target = '{}'\n{SHOPPING}", server.url()));
    let ended = torr(&[script.path(), "--variable", "name=bob", "-c1", "-n1", "--json", "-"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["status"]["403"].as_u64(), Some(3), "bob is not known: {ended:?}");
    let nameless = File::new("shop.lua", SHOPPING);
    let ended = torr(&[nameless.path()]);
    assert!(ended.code == Some(2) && ended.stderr.contains("missing target: set target ="), "{ended:?}");
}

#[test]
fn a_session_fails_where_its_script_says_so() {
    let source = r#"
        function session(user)
            local got = http.get("/nowhere")
            user.check("found", got.status == 200)
            user.fail("no " .. user.vars.name)
        end
    "#;
    let (server, script) = (Script::start(shop), File::new("fail.lua", source));
    let args = ["--script", script.path(), "--secret", "name=geheim", "-c1", "-n3", "--json", "-"];
    let ended = torr(&[&[&*server.url()], &args[..]].concat());
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["sessions"]["failed"].as_u64(), Some(3), "{ended:?}");
    let entry = &result["entries"][0];
    assert_eq!(entry["name"].as_str(), Some("GET /nowhere"));
    let text = entry.to_string();
    assert!(text.contains("\"no ***\"") && text.contains("found") && !ended.stdout.contains("geheim"), "{text}");
}

#[test]
fn a_session_sends_to_servers_that_a_response_names() {
    let other = Script::start(|client: &mut Client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nSet-Cookie: own=1\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let source = format!(
        "function session(user)\n  http.post('/login', {{ json = {{ user = 'ann' }} }})\n  for n = 1, 2 do\n    local got = \
         http.get('http://cdn.test:{}/cdn?' .. n)\n    user.check('ok', got.body == 'ok')\n  end\n  http.get('/items/1', {{ headers = \
         {{ Authorization = 'Bearer ann' }} }})\nend",
        other.address.port()
    );
    let (server, script) = (Script::start(shop), File::new("two.lua", &source));
    let resolve = format!("cdn.test:{}:127.0.0.1", other.address.port());
    let flags =
        ["--resolve", &resolve, "-H", "Authorization: geheim", "-H", "X-Own: 1", "-c3", "-t2", "-n12", "--json", "-"];
    let ended = torr(&[&[&*server.url(), "--script", script.path()], &flags[..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["sessions"]["finished"].as_u64(), Some(12), "{ended:?}");
    assert_eq!((server.requests(), other.requests()), (24, 24), "{ended:?}");
    assert!(other.connections() <= 3, "each user has a connection of its own");
    let host = format!("\r\nHost: cdn.test:{}\r\n", other.address.port());
    for text in other.texts() {
        assert!(text.contains(&host) && text.contains("X-Own: 1"), "{text}");
        // Neither the target's cookies nor its credentials go to another server; its own cookies do.
        assert!(!text.contains("sid=7") && !text.contains("geheim"), "{text}");
        assert_eq!(text.contains("Cookie: own=1"), text.contains("/cdn?2"), "{text}");
    }
    let origins: Vec<_> = result["entries"].as_array().unwrap().iter().map(|entry| entry["origins"].clone()).collect();
    let ours = serde_json::json!([format!("http://{}", server.address)]);
    let others = serde_json::json!([format!("http://cdn.test:{}", other.address.port())]);
    assert_eq!(origins, [ours.clone(), others, ours], "{ended:?}");
}

#[test]
fn an_error_in_a_session_ends_the_run_with_its_position() {
    for (body, what) in [
        ("local x = nothing.field", "attempt to index global 'nothing'"),
        ("http.get(7)", "needs a path such as '/items', found a number"),
        ("http.get('/', { header = {} })", "unknown option 'header' of a request"),
        ("http.get('ftp://other.invalid/')", "the URL must begin with http:// or https://"),
        ("user.think('long')", "user.think needs seconds"),
        ("http.get('/'):json('$.a')", "the response's content is not JSON"),
        ("http.get('/'):json('a b')", "is not JSON"),
        ("coroutine.yield(1)", "it must not call coroutine.yield"),
    ] {
        let server = Script::start(shop);
        let script = File::new("bad.lua", &format!("function session(user)\n  {body}\nend"));
        let ended = torr(&[&server.url(), "--script", script.path(), "-c1", "-d1m"]);
        assert!(ended.code == Some(1) && ended.stdout.contains("verdict"), "{body}: {ended:?}");
        let line =
            ended.stderr.lines().find(|line| line.contains("in session(): ")).unwrap_or_else(|| panic!("{ended:?}"));
        let position = if body.starts_with("coroutine") { "" } else { ":2" };
        assert!(line.starts_with(&format!("torr: {}{position}: in session(): ", script.path())), "{body}: {line}");
        assert!(line.contains(what), "{body}: {line}");
    }
}

#[test]
fn the_guides_commands_and_scripts_run() {
    let page = include_str!("../../docs/scripts.md");
    let server = Script::start(shop);
    let at = server.address.to_string();
    let folder = tempfile::tempdir().unwrap();
    for block in page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("lua\n-- ")) {
        let (name, source) = block.split_once('\n').expect("a script has lines");
        fs::write(folder.path().join(name), format!("target = 'http://{at}/'\n{source}")).unwrap();
    }
    let commands = commands(page);
    assert!(commands.len() >= 5, "{commands:?}");
    for line in commands {
        // A number of requests, since a time may pass without one on a machine whose CPUs have other work. wrk has a time only.
        let end = if line.starts_with("torr wrk ") { "-d 3s" } else { "-n 20" };
        let line = line.replace("127.0.0.1:8080", &at).replace("-d 10s", end).replace("-c 100", "-c 10");
        let mut words: Vec<_> = line.split(' ').skip(1).collect();
        match words[0] {
            "limit" => words.extend(["--budget", "5s", "--max-connections", "20", "-t", "1"]),
            "doctor" => words.extend(["--budget", "5s", "-c", "10", "-t", "1"]),
            "check" | "once" => {}
            _ if line.contains(end) => {}
            _ => words.insert(1, "-n20"),
        }
        let mut command = torr_command(&words);
        command.current_dir(folder.path());
        let before = server.requests();
        // The shop has status 404 for some of the guide's requests.
        let ended = guide::run(&line, command, &["once"]);
        assert_eq!(server.requests() > before, words[0] != "check", "{line}: {ended:?}");
    }
}

/// A server that notes the requests, and responds to `/flaky` by closing the connection.
fn noting() -> Script {
    Script::start(|client: &mut Client| {
        while let Some(request) = client.request() {
            if request.starts_with(b"GET /flaky") {
                return;
            }
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    })
}

/// Returns the paths of the requests that a session of a script sends, and how `torr once` ended.
fn once(source: &str, args: &[&str]) -> (Vec<String>, torr_test_support::program::Ended) {
    let (server, script) = (noting(), File::new("a.lua", source));
    let ended = torr(&[&["once", &*server.url(), "--script", script.path()], args].concat());
    let path = |text: &String| text.split(' ').nth(1).unwrap_or_default().to_owned();
    (server.texts().iter().map(path).collect(), ended)
}

#[test]
fn think_takes_whole_and_broken_seconds() {
    let source = "function session(user)\n  for _, s in ipairs { 0, 1e-3, 1 } do user.think(s) user.think(s, s) end\n\
        user.think('0.001')\n  http.get('/end')\nend";
    let (paths, ended) = once(source, &[]);
    assert_eq!((ended.code, &paths[..]), (Some(0), &["/end".to_owned()][..]), "{ended:?}");
    assert!(ended.stdout.contains("pause of 1.00 s"), "{ended:?}");
    for seconds in ["-1", "0/0", "2, 1", "1, 0/0", "'x'"] {
        let (_, ended) = once(&format!("function session(user)\n  user.think({seconds})\nend"), &[]);
        assert_eq!(ended.code, Some(1), "{seconds}: {ended:?}");
        assert!(ended.stderr.contains("a.lua:2: in session(): user.think needs"), "{seconds}: {ended:?}");
    }
}

#[test]
fn a_session_waits_within_pcall_and_coroutines() {
    let source = r#"
        function session(user)
            local ok, got = pcall(http.get, "/a")
            user.check("pcall", ok and got.status == 200)
            ok, got = xpcall(function() return http.get("/b") end, debug.traceback)
            user.check("xpcall", ok and got.body == "ok")
            user.check("error", not pcall(function() http.get("/c") error("own") end))
            local each = coroutine.wrap(function()
                for n = 1, 2 do
                    local got = http.get("/w/" .. n)
                    user.think(0.001)
                    coroutine.yield(n, got.status)
                end
            end)
            local n, status = each()
            user.check("wrap", n == 1 and status == 200)
            user.check("wrap again", each() == 2)
            local inner = coroutine.create(function(a)
                local b = coroutine.wrap(function() return http.get("/deep").status + coroutine.yield(a) end)
                user.check("own value", b() == "x")
                return b(1)
            end)
            local alive, sum = coroutine.resume(inner, "x")
            user.check("nested", alive and sum == 201)
            user.check("status", coroutine.status(inner) == "dead")
            for word in (function() return coroutine.wrap(function() http.get("/for") coroutine.yield("y") end) end)() do
                user.check("iterator", word == "y")
            end
        end
    "#;
    let (paths, ended) = once(source, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(paths, ["/a", "/b", "/c", "/w/1", "/w/2", "/deep", "/for"]);
    let (_, ended) = once("function session(user)\n  ('x'):gsub('x', function() http.get('/') end)\nend", &[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("are not supported inside of functions"), "{ended:?}");
    let (_, ended) = once("function session(user)\n  coroutine.yield('pause', 1)\nend", &[]);
    assert!(ended.code == Some(1) && ended.stderr.contains("it must not call coroutine.yield"), "{ended:?}");
    let (_, ended) = once("function session(user) end\nhttp.get('/')", &[]);
    assert!(
        ended.code == Some(2) && ended.stderr.contains("a.lua:2: requests and user.think must be called within"),
        "{ended:?}"
    );
}

#[test]
fn each_session_has_a_record_of_the_feeder() {
    let source = "function session(user)\n  http.get('/' .. user.vars.name .. '/' .. user.vars.qty .. '/' .. user.vars.own)\nend";
    let (server, script) = (noting(), File::new("a.lua", source));
    let records = script.beside().join("people.csv");
    fs::write(&records, "name,qty\nmia,2\nnoor,3\n").unwrap();
    let records = records.to_str().unwrap();
    let args = ["--script", script.path(), "--feeder", records, "--variable", "own=x", "--variable", "name=no"];
    let ended = torr(&[&[&*server.url()], &args[..], &["-c1", "-n3"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let path = |text: &String| text.split(' ').nth(1).unwrap_or_default().to_owned();
    assert_eq!(server.texts().iter().map(path).collect::<Vec<_>>(), ["/mia/2/x", "/noor/3/x", "/mia/2/x"]);
    let named = File::new("b.lua", &format!("target = '{}'\n{source}", server.url()));
    let ended = torr(&["once", named.path(), "--feeder", records, "--variable", "own=y"]);
    assert!(ended.code == Some(0) && ended.stdout.contains("> GET /mia/2/y "), "{ended:?}");
    let ended = torr(&["once", named.path(), "--feeder", "nosuch.csv"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("nosuch.csv"), "{ended:?}");
    let wrk = File::new("w.lua", "wrk.method = 'PUT'");
    let ended = torr(&[&*server.url(), "--script", wrk.path(), "--feeder", records, "-n1"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("--feeder is not supported for a wrk script"), "{ended:?}");
}

#[test]
fn options_of_requests_are_taken_or_refused() {
    let source = "function session(user)\n  http.get('/a b\u{e9}#c', { query = { tag = { 'y', 'x' }, b = true, n = 1 } })\n\
        http.post('/f', { form = { a = { 1, 2 } }, headers = { ['X-A'] = { 'one', 'two' } } })\nend";
    let (server, script) = (noting(), File::new("a.lua", source));
    let ended = torr(&["once", &*server.url(), "--script", script.path()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let texts = server.texts();
    assert!(texts[0].starts_with("GET /a%20b%C3%A9?b=true&n=1&tag=y&tag=x HTTP/1.1\r\n"), "{}", texts[0]);
    assert!(texts[1].contains("X-A: one\r\nX-A: two\r\n") && texts[1].ends_with("\r\n\r\na=1&a=2"), "{}", texts[1]);
    for (call, what) in [
        ("post('/b', { body = 'text', json = { 1 } })", "a request must have one content"),
        ("post('/b', { form = { a = 1 }, json = { 1 } })", "a request must have one content"),
        ("post('/b', { body = { 1 } })", "'body' of a request must be text or a number"),
        ("get('/b', { query = { 'x' } })", "'query' of a request needs names"),
        ("get('/b', { query = 'a=b' })", "'query' of a request must be a table"),
        ("get('/b', { query = { a = { b = { } } } })", ""),
        ("get('/b', { query = { a = print } })", "query.a must be text or a number, found a function"),
        ("get('/b', { headers = { ['X-A'] = 'a\\r\\nX-B: c' } })", "the field X-A contains a line break"),
        ("get('/b', { headers = { ['X A'] = 'a' } })", "invalid name of a header field: 'X A'"),
        ("get('/b', { headers = { A = print } })", "the field A must be text or a number, found a function"),
        ("get('/b', { name = { } })", "'name' of a request must be text or a number"),
        ("request(nil, '/b')", "http.request needs a method"),
        ("request('GE T', '/b')", "http.request needs a method"),
    ] {
        let (paths, ended) = once(&format!("function session(user)\n  http.{call}\nend"), &[]);
        if what.is_empty() {
            assert_eq!(paths, ["/b?"], "{call}: {ended:?}");
            continue;
        }
        assert!(ended.code == Some(1) && paths.is_empty(), "{call}: {ended:?}");
        assert!(ended.stderr.contains(&format!("a.lua:2: in session(): {what}")), "{call}: {ended:?}");
    }
}

#[test]
fn a_misspelt_function_is_named() {
    let server = noting();
    for (source, what) in [
        ("function sesion(user) http.get('/a') end", "the function 'sesion' is never called: did you mean 'session'?"),
        ("function Request() return '' end", "did you mean 'request'?"),
        ("function reqest() return '' end", "did you mean 'request'?"),
        ("local function requests() end", ""),
        ("function requests() end requests()", ""),
        ("function request1() end function request() return wrk.format() end", ""),
    ] {
        let script = File::new("a.lua", source);
        let ended = torr(&[&*server.url(), "--script", script.path(), "-c1", "-n1"]);
        match what {
            "" => assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{source}: {ended:?}"),
            what => assert!(ended.code == Some(2) && ended.stderr.contains(what), "{source}: {ended:?}"),
        }
    }
    // Beside a function that is called the run goes on.
    for (source, what) in [
        (
            "function session(user) http.get('/a') end function sesion(user) http.get('/b') end",
            "'sesion' is never called: did you mean 'session'?",
        ),
        (
            "function request() return wrk.format() end function respones() end",
            "'respones' is never called: did you mean 'response'?",
        ),
    ] {
        let script = File::new("a.lua", source);
        let ended = torr(&[&*server.url(), "--script", script.path(), "-c1", "-n1"]);
        assert_eq!(ended.code, Some(0), "{source}: {ended:?}");
        assert!(ended.stderr.contains(what) && ended.stderr.lines().count() == 1, "{source}: {ended:?}");
    }
}
