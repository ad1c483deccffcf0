//! `torr check`, `once`, `doctor` and `limit` with scripts and plans, and what scripts of wrk expect of the machine.

use crate::scripts::{File, server};
use serde_json::Value;
use std::fs;
use std::path::Path;
use torr_test_support::program::{Ended, Running, torr, torr_command};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Serve;
use torr_test_support::supervised::Supervised;

fn torr_in(folder: &Path, args: &[&str]) -> Ended {
    let mut command = torr_command(args);
    command.current_dir(folder);
    Running::start(command).wait()
}

#[test]
fn check_compiles_a_script_and_runs_nothing_of_it() {
    let source = "io.open('was-run', 'w'):close()\nfunction request() return wrk.format() end\n";
    let script = File::new("good.lua", source);
    let ended = torr_in(script.beside(), &["check", "good.lua"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.stdout, "good.lua: no mistakes; run it with 'torr once'\n");
    assert!(!script.beside().join("was-run").exists());
    let bad = "function request(\n  return 1\nend\n";
    fs::write(script.beside().join("bad.lua"), bad).expect("there is room");
    let ended = torr_in(script.beside(), &["check", "bad.lua", "good.lua", "none.lua"]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 2), "{ended:?}");
    assert!(ended.stderr.contains("torr: bad.lua:2: ") && ended.stdout.starts_with("good.lua"), "{ended:?}");
    assert!(ended.stderr.contains("none.lua: no such file"), "{ended:?}");
}

#[test]
fn check_looks_through_a_plan_and_its_files() {
    let script = File::new("load.lua", "function request(\n");
    let write = |name: &str, text: &str| fs::write(script.beside().join(name), text).expect("there is room");
    write("a.hurl", "GET http://{{host}}/\n");
    write("good.toml", "duration = \"1s\"\n[target]\n\"a.hurl\" = 7\n[variable]\nhost = \"127.0.0.1:9\"\n");
    write("typo.toml", "target = \"http://127.0.0.1:9/\"\nconections = 50\n");
    write("both.toml", "target = \"http://127.0.0.1:9/\"\nrate = 5\nmax-rate = 7\n");
    write("empty.toml", "");
    write("file.toml", "target = \"a.hurl\"\n");
    write("script.toml", "target = \"http://127.0.0.1:9/\"\nscript = \"load.lua\"\n");
    for (file, code, said) in [
        ("good.toml", 0, "good.toml: no mistakes in the plan or in its files"),
        ("typo.toml", 2, "typo.toml:2:1: unknown setting 'conections' (did you mean 'connections'?)"),
        ("both.toml", 2, "both.toml:3:12: 'max-rate': "),
        ("empty.toml", 2, "torr: empty.toml: missing 'target'"),
        ("file.toml", 2, "a.hurl:1:14: the variable 'host' has no value"),
        ("script.toml", 2, "load.lua:"),
        ("none.toml", 2, "none.toml"),
    ] {
        let ended = torr_in(script.beside(), &["check", file]);
        assert_eq!(ended.code, Some(code), "{file}: {ended:?}");
        let text = if code == 0 { &ended.stdout } else { &ended.stderr };
        assert!(text.contains(said) && text.lines().count() == 1, "{file}: {ended:?}");
    }
}

#[test]
fn once_shows_a_session_of_a_script() {
    let shop = Serve::start(&[]);
    let source = format!(
        "target = '{}'\nfunction session(user)\n  print('begins')\n  local page = http.get('/', {{ name = 'home' }})\n  \
         user.check('it greets', page.body:find('Hello'))\n  user.think(0.01)\n  http.post('/nowhere', {{ form = {{ a = 'b' }} \
         }})\nend\n",
        shop.url("/")
    );
    let script = File::new("shop.lua", &source);
    let ended = torr_in(script.beside(), &["once", "shop.lua", "--secret", "x=Hello"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), "begins\n"), "{ended:?}");
    for part in [
        "shop.lua: home\n> GET / HTTP/1.1\n",
        "< HTTP/1.1 200\n",
        "***, world!",
        "  pause of 10.0 ms\n",
        "shop.lua: POST /nowhere\n> POST /nowhere HTTP/1.1\n",
        "> a=b\n",
        "< HTTP/1.1 404\n",
        "  failed: status 404 (POST /nowhere)\n",
        "The session finished; 1 response failed.\n",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    let failing =
        File::new("failing.lua", "function session(user)\n  http.get('/')\n  user.check('never', false)\nend\n");
    let ended = torr(&["once", &shop.url("/"), "--script", failing.path()]);
    assert!(ended.code == Some(1) && ended.stdout.contains("  failed check: never\n"), "{ended:?}");
    let broken = File::new("broken.lua", "function session(user)\n  http.get('/')\n  nothing()\nend\n");
    let ended = torr(&["once", &shop.url("/"), "--script", broken.path()]);
    assert!(ended.code == Some(1) && ended.stderr.contains("broken.lua:3: in session(): "), "{ended:?}");
}

#[test]
fn once_tells_of_a_script_that_does_not_end_and_ctrl_c_ends_it() {
    let server = server();
    let script = File::new("endless.lua", "function session(user)\n  while true do end\nend\n");
    let mut once = Supervised::spawn(torr_command(&["once", &server.url(), "--script", script.path()]));
    once.says("torr: the script has run for 5 s without a request or a pause; stop it with Ctrl-C");
    once.signal("INT");
    assert_eq!(once.wait().code(), Some(130), "{:?}", once.said());
}

#[test]
fn once_shows_a_request_of_a_script_of_wrk() {
    let server = server();
    let source = "local n = 0\nfunction init(args) wrk.headers['X-Args'] = args[1] end\nfunction request()\n  n = n + 1\n  \
                  return wrk.format('PUT', '/' .. n, nil, 'body') .. wrk.format(nil, '/second')\nend\n";
    let script = File::new("two.lua", source);
    let ended = torr(&["once", &server.url(), "--script", script.path(), "-H", "X: y", "--", "one"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    for part in ["> PUT /2 HTTP/1.1\n", "> X-Args: one\n", "> X: y\n", "> body\n", "> GET /second HTTP/1.1\n"] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    assert_eq!((ended.stdout.matches("< HTTP/1.1 200\n").count(), server.requests()), (2, 2), "{ended:?}");
    for (args, said) in [
        (&["once", script.path()][..], "missing target"),
        (&["once", script.path(), "--script", script.path()], "is already a script"),
        (&[script.path(), "--script", script.path()], "is already a script"),
    ] {
        let ended = torr(args);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(said), "{args:?}: {ended:?}");
    }
}

#[test]
fn commands_take_the_plan_that_is_printed_of_a_script_with_arguments() {
    let server = server();
    let source = "function init(args) wrk.headers['X-Args'] = table.concat(args, '+') end\n\
                  function request() return wrk.format() end\n";
    let script = File::new("args.lua", source);
    let url = server.url();
    let load = [url.as_str(), "one", "two", "--script", "args.lua", "-d", "30s", "--print-plan"];
    let printed = torr_in(script.beside(), &load);
    assert_eq!((printed.code, printed.stderr.as_str()), (Some(0), ""), "{printed:?}");
    fs::write(script.beside().join("plan.toml"), &printed.stdout).expect("there is room");
    for (args, shown) in [(&["once", "plan.toml"][..], "one+two"), (&["once", "plan.toml", "--", "three"], "three")] {
        let ended = torr_in(script.beside(), args);
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        assert_eq!(ended.stderr, "torr: plan.toml: not used by 'torr once': duration\n", "{args:?}");
        assert!(ended.stdout.contains(&format!("> X-Args: {shown}\n")), "{args:?}: {}", ended.stdout);
    }
    for command in ["limit", "doctor"] {
        let ended = torr_in(script.beside(), &[command, "plan.toml", "--json", "/nowhere/r.json"]);
        let note = format!("plan.toml: not used by 'torr {command}': duration, the script's arguments\n");
        assert!(ended.code == Some(2) && ended.stderr.starts_with(&format!("torr: {note}")), "{command}: {ended:?}");
        assert!(ended.stderr.contains("cannot write /nowhere/r.json"), "{command}: {ended:?}");
    }
    fs::write(script.beside().join("two.toml"), "target = [\"http://h/\", \"http://i/\"]\n").expect("there is room");
    let two = torr_in(script.beside(), &["limit", "two.toml"]);
    assert!(two.code == Some(2) && two.stderr.contains("two.toml: found 2 targets ("), "{two:?}");
}

#[test]
fn limit_and_doctor_take_scripts_and_plans() {
    let shop = Serve::start(&["--workers", "1"]);
    let source = "function session(user)\n  http.get('/')\n  user.think(0.001)\nend\n";
    let script = File::new("shop.lua", &format!("target = '{}'\n{source}", shop.url("/")));
    let plan =
        format!("target = \"{}\"\nscript = \"shop.lua\"\nduration = \"30s\"\nheader = \"X: y\"\n", shop.url("/"));
    fs::write(script.beside().join("plan.toml"), plan).expect("there is room");
    let few = ["--budget", "5s", "--max-connections", "20", "-t", "1", "-q"];
    for (command, target) in [("limit", "shop.lua"), ("limit", "plan.toml"), ("doctor", "shop.lua")] {
        let own: &[&str] = if command == "doctor" { &["-c", "10"] } else { &[] };
        let ended = torr_in(script.beside(), &[&[command, target, "--json", "-"], own, &few].concat());
        assert!(matches!(ended.code, Some(0 | 1)), "{command} {target}: {ended:?}");
        let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        let passed_over = "torr: plan.toml: not used by 'torr limit': duration\n";
        assert_eq!(ended.stderr.contains(passed_over), target == "plan.toml", "{ended:?}");
        let again = if target == "plan.toml" {
            "--script shop.lua --header 'X: y'"
        } else {
            &format!("torr {command} shop.lua")
        };
        assert!(
            result["command"].as_str().is_some_and(|said| said.contains(again)),
            "{command} {target}: {}",
            ended.stdout
        );
    }
    fs::write(
        script.beside().join("shop.lua"),
        format!("target = '{}'\nfunction session()\n  nothing()\nend\n", shop.url("/")),
    )
    .expect("there is room");
    let ended = torr_in(script.beside(), &[&["limit", "shop.lua"], &few[..]].concat());
    assert!(ended.code == Some(1) && ended.stderr.contains("shop.lua:3: in session(): "), "{ended:?}");
    for (args, said) in [
        (&["doctor", "none.lua"][..], "no such file: 'none.lua'"),
        (&["limit", "shop.lua", "--setup", "a"], "--setup"),
        (&["doctor", "plan.toml", "--paths", "/a,/b"], "--script is not supported in a comparison"),
    ] {
        let ended = torr_in(script.beside(), args);
        assert!(ended.code == Some(2) && ended.stderr.contains(said), "{args:?}: {ended:?}");
    }
}

#[test]
fn modules_that_are_compiled_elsewhere_are_there_or_named() {
    let server = server();
    let source = r#"
        require "socket"
        local json = require "cjson"
        local here = debug.getinfo(1, "S").source:sub(2):match("^(.*/)[^/]+")
        local before = socket.gettime()
        socket.sleep(0.001)
        print(socket.gettime() > before, os.difftime(os.time(), math.floor(before)) <= 2, io.open(here .. "main.lua") ~= nil)
        local value = json.decode('{"a": [1, {"b": null}]}')
        print(value.a[1], value.a[2].b == json.null, json.encode(value), pcall(json.decode, "{"))
        print(require("cjson.safe").decode("{") == nil, pcall(require, "ffi") == false)
        print((select(2, xpcall(function() error("x", 0) end, debug.traceback)):match("^x\nstack traceback")))
        print(pcall(function() return socket.tcp() end))
        function request() return wrk.format("POST", "/", nil, 12345) end
    "#;
    let script = File::new("main.lua", source);
    let ended = torr(&["once", &server.url(), "--script", script.path()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for line in [
        "true\ttrue\ttrue",
        "1\ttrue\t{\"a\":[1,{\"b\":null}]}\tfalse\t",
        "true\ttrue\n",
        "x\nstack traceback",
        "socket.tcp is not supported: 'socket' has gettime and sleep",
    ] {
        assert!(ended.stderr.contains(line), "{line}: {}", ended.stderr);
    }
    assert!(ended.stdout.contains("> Content-Length: 5\n"), "{}", ended.stdout);
    let script = File::new("clock.lua", "local ffi = require('ffi')\n");
    let ended = torr(&["once", &server.url(), "--script", script.path()]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{ended:?}");
    let said = "clock.lua:1: module 'ffi' not found (use Lua files next to the script; of compiled modules";
    assert!(ended.stderr.contains(said), "{ended:?}");
}

#[test]
fn mistakes_are_found_before_the_setup_is_sent() {
    let server = Script::start(|client: &mut Client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let script = File::new("init.lua", "io.open('was-run', 'w'):close()\n");
    let write = |name: &str, text: &str| fs::write(script.beside().join(name), text).expect("there is room");
    write("setup.hurl", &format!("GET {}setup\n", server.url()));
    write("main.hurl", &format!("GET {}main\n", server.url()));
    for (args, said) in [
        (&["--stages", "1s:5", "--max-rate", "9"][..], "drop --max-rate"),
        (&["--json", "/nowhere/r.json"], "cannot write /nowhere/r.json"),
        (&["--csv", "-", "--json", "-"], "cannot both go to standard output"),
        (&["--hlog", "/nowhere/l"], "cannot write /nowhere/l"),
        (&["--http2-prior-knowledge", "--streams", "5"], "--streams"),
    ] {
        let args = [&["main.hurl", "--setup", "setup.hurl", "-n", "1"], args].concat();
        let ended = torr_in(script.beside(), &args);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(said), "{args:?}: {ended:?}");
        assert_eq!(server.requests(), 0, "{args:?}");
    }
    // A script's own code is not run before its outputs are known to be writable.
    let url = server.url();
    let ended = torr_in(script.beside(), &[&url, "--script", "init.lua", "--json", "/nowhere/r.json"]);
    assert!(ended.code == Some(2) && !script.beside().join("was-run").exists(), "{ended:?}");
}
