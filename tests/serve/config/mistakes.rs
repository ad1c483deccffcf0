//! Mistakes in a configuration, and variables that are none of its own.

use super::scene::{Scene, one_line};

#[test]
fn mistakes_in_a_file_get_one_line_with_their_position() {
    let cases: &[(&str, &str)] = &[
        ("\nworkesr = 4", "torr.toml:2: unknown key 'workesr' (did you mean 'workers'?)"),
        ("max-head = 4", "torr.toml:1: unknown key 'max-head' (did you mean 'max_head'?)"),
        ("MAX_HEAD = 4", "unknown key 'MAX_HEAD' (did you mean 'max_head'?)"),
        ("xyz = 1", "unknown key 'xyz' (see 'torr serve --print-config' for all keys)"),
        ("\"a\\nb\" = 1", "unknown key 'a b'"),
        ("workers = 1\n\n[server]\nworkers = 4", "torr.toml:3: unknown key 'server' (tables are not supported"),
        ("workers = 1\n\n# x\nworkers = 5", "torr.toml:4: duplicate key at 'workers = 5'"),
        ("idle_timeout = \"1s\"\nzzz = 1\naaa = 1", "torr.toml:2: unknown key 'zzz'"),
        ("workers = \"4\"", "workers must be a whole number from 1 to 4096, found \"4\" (did you mean workers = 4?)"),
        ("workers = 0", "workers must be a whole number from 1 to 4096, found 0"),
        ("workers = -1", "found -1"),
        ("workers = 4.5", "found 4.5"),
        ("workers = 4097", "found 4097"),
        ("workers = 99999999999999999999999999999999999999999999", "workers must be a whole number"),
        ("workers = true", "found true"),
        ("workers = 2026-01-01", "found 2026-01-01"),
        ("workers = [4]", "found an array"),
        ("workers.n = 4", "found a table"),
        ("[workers]\nn = 4", "workers must be a whole number from 1 to 4096, found a table"),
        ("max_head = 10", "max_head must be a whole number from 256 up, found 10"),
        ("max_headers = 257", "max_headers must be a whole number from 1 to 256, found 257"),
        ("max_body = 9223372036854775808", "max_body must be a whole number from 0 up"),
        ("backlog = 2147483648", "backlog must be"),
        (
            "idle_timeout = \"1 parsec\"",
            "idle_timeout must be a duration above 0, such as 10s, 500ms or 2m, found \"1 parsec\"",
        ),
        ("idle_timeout = 0", "idle_timeout must be a duration above 0, such as 10s, 500ms or 2m, found 0"),
        ("idle_timeout = nan", "found nan"),
        ("idle_timeout = 10s # short", "found 10s # short (did you mean idle_timeout = \"10s\"?)"),
        ("listen = 127.0.0.1:80", "found 127.0.0.1:80 (did you mean listen = \"127.0.0.1:80\"?)"),
        ("listen = \"nowhere\"", "listen must be an address to listen on, such as 127.0.0.1:8080, found \"nowhere\""),
        ("listen = 8080", "found 8080"),
        ("defer_accept = yes", "defer_accept must be true or false, found yes"),
        ("defer_accept = \"true\"", "found \"true\" (did you mean defer_accept = true?)"),
        ("server_name = \"a\\r\\nX: y\"", "server_name must be 1 to 100 printable ASCII characters"),
        ("server_name = \"\"\"a\nb\"\"\"", "found \"\"\"a b\"\"\""),
        ("server_name = \"\"", "server_name must be"),
        ("max_connections_per_address = -1", "max_connections_per_address must be a whole number from 0 up, found -1"),
        ("trusted_proxies = \"10.0.0.0/33\"", "found \"10.0.0.0/33\""),
        ("trusted_proxies = 10.0.0.1", "found 10.0.0.1 (did you mean trusted_proxies = \"10.0.0.1\"?)"),
        ("trusted_proxies = [\"10.0.0.1\"]", "trusted_proxies must be addresses and networks with commas between them"),
        (
            "forwarded_field = \"x-client\"",
            "forwarded_field must be x-forwarded-for, forwarded or x-real-ip, found \"x-client\"",
        ),
        ("proxy_protocol = \"optional\"", "proxy_protocol must be off or required, found \"optional\""),
        ("proxy_protocol = true", "found true"),
        ("request_ids = 1", "request_ids must be true or false, found 1"),
        ("access_log = \"a\\nb\"", "access_log must be the name of a file, - for standard output, or nothing"),
        ("access_log_format = \"apache\"", "access_log_format must be common, combined or json, found \"apache\""),
        ("\n\nworkers =", "torr.toml:3: missing value of workers: it must be a whole number from 1 to 4096"),
        ("idle_timeout = # later", "torr.toml:1: missing value of idle_timeout"),
        ("workers", "torr.toml:1: "),
        ("[", "torr.toml:1: "),
        ("server_name = \"\"\"a", "torr.toml:1: "),
    ];
    for (file, words) in cases {
        let scene = Scene::new(file);
        for args in [&["--config", "torr.toml"][..], &["--config", "torr.toml", "--workers", "2", "--print-config"]] {
            let ended = scene.run(args);
            one_line(&ended, file);
            assert!(ended.stderr.contains(words) && ended.stderr.contains("torr.toml:"), "{file}: {}", ended.stderr);
        }
    }
    let scene = Scene::new(b"\xff\xfe");
    for (file, words) in [("none.toml", "no such file"), ("/", "directory"), ("torr.toml", "UTF-8")] {
        let ended = scene.run(&["--config", file]);
        one_line(&ended, file);
        assert!(ended.stderr.contains(file) && ended.stderr.contains(words), "{file}: {}", ended.stderr);
    }
}

#[test]
fn mistakes_in_the_environment_get_one_line() {
    for (name, value, words) in [
        ("TORR_SERVE_WORKERS", "0", "TORR_SERVE_WORKERS must be a whole number from 1 to 4096, found '0'"),
        ("TORR_SERVE_WORKERS", "", "found ''"),
        ("TORR_SERVE_WORKERS", "a\nb", "found 'a\\nb'"),
        ("TORR_SERVE_IDLE_TIMEOUT", "soon", "TORR_SERVE_IDLE_TIMEOUT must be a duration"),
        ("TORR_SERVE_WROKERS", "1", "unknown variable TORR_SERVE_WROKERS (did you mean 'TORR_SERVE_WORKERS'?)"),
        ("TORR_SERVE_MAXHEAD", "1", "(did you mean 'TORR_SERVE_MAX_HEAD'?)"),
        ("TORR_SERVE_CONFIGS", "1", "(did you mean 'TORR_SERVE_CONFIG'?)"),
        ("TORR_SERVE_CONFIG", "/no/such/file", "/no/such/file"),
        ("TORR_SERVE_LISTEN", "no-such-host.invalid:80", "(environment, TORR_SERVE_LISTEN)"),
    ] {
        // A mistake is one although a flag is stronger.
        let flags: &[&str] = if name.ends_with("LISTEN") { &[] } else { &["--workers", "1", "--idle-timeout", "1s"] };
        let ended = Scene::new("").variable(name, value).run(flags);
        one_line(&ended, name);
        assert!(ended.stderr.contains(words), "{name}={value}: {}", ended.stderr);
    }
}

#[test]
fn mistakes_in_flags_get_one_line_with_the_reason() {
    for (args, words) in [
        (["--workers", "0"], "--workers must be a whole number from 1 to 4096, found '0'"),
        (["--idle-timeout", "0"], "--idle-timeout must be a duration above 0, such as 10s, 500ms or 2m, found '0'"),
        (["--server-name", "a\nb"], "--server-name must be 1 to 100 printable ASCII characters"),
        (["--listen", "no-such-host.invalid:80"], "cannot resolve the name"),
        (["--access-log", "/no/such/folder/a.log"], "cannot open the access log '/no/such/folder/a.log': no such file"),
        (["--pid-file", "/no/such/folder/a.pid"], "cannot write the pid file /no/such/folder/a.pid: no such file"),
        (["--pid-file", "/tmp"], "/tmp is not a pid file: it is a directory"),
        (["--cache", "redis://:secret@h/\u{7}0"], "--cache must be memory, or the URL of Redis"),
    ] {
        let ended = Scene::new("").variable("TORR_SERVE_LISTEN", "127.0.0.1:0").run(&args);
        one_line(&ended, words);
        assert!(ended.stderr.contains(words) && !ended.stderr.contains("secret"), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn variables_that_kubernetes_sets_for_a_service_of_this_name_are_left_alone() {
    let mut scene = Scene::new("");
    for name in ["SERVICE_HOST", "SERVICE_PORT", "PORT", "PORT_80_TCP", "PORT_80_TCP_ADDR", "PORT_80_TCP_PROTO"] {
        scene = scene.variable(&format!("TORR_SERVE_{name}"), "tcp://10.0.0.1:80");
    }
    assert!(scene.printed(&[]).iter().all(|line| line.source.starts_with("default")));
}
