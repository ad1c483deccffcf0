//! What virtual users cost: CPU time for each request, and memory for each user. Run by hand, in a release build.

mod common;

use common::run_with;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The variable by which this program knows that it is the server.
const SERVES: &str = "TORR_K6_COST_SERVES";
const USERS: usize = 1000;

/// Kills the server at the end.
struct Server(Child, String);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn server() -> Server {
    let this = std::env::current_exe().expect("a program has a path");
    let mut child = Command::new(this)
        .args(["serves", "--ignored", "--nocapture"])
        .env(SERVES, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdout = child.stdout.take().expect("it was piped");
    let mut said = String::new();
    let url = loop {
        let mut byte = [0];
        stdout.read_exact(&mut byte).expect("the server says where it is");
        said.push(char::from(byte[0]));
        if let Some((_, url)) = said.split_once("url=").filter(|_| said.ends_with('\n')) {
            break url.trim().to_owned();
        }
    };
    std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    Server(child, url)
}

/// The server itself, as a program of its own whose CPU time does not count.
#[test]
#[ignore = "it is the server of the other test"]
fn serves() {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    println!("url=http://{}/", listener.local_addr().expect("it is bound"));
    for stream in listener.incoming() {
        let mut stream = stream.expect("a connection can be accepted");
        let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
            let mut buffer = [0; 4096];
            while stream.read(&mut buffer).is_ok_and(|read| read > 0) {
                if stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
                    .is_err()
                {
                    return;
                }
            }
        });
    }
}

/// Returns the CPU time that this process has used.
fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("the system has /proc");
    let after = stat.rsplit(") ").next().expect("there is a name");
    let fields: Vec<&str> = after.split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().expect("a number") + fields[12].parse::<u64>().expect("a number");
    Duration::from_millis(ticks * 10)
}

/// Returns the memory in KiB that this process has.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the system has /proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    line.trim().split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
#[ignore = "it measures; run it alone in a release build"]
fn a_request_and_a_user_are_cheap() {
    for users in [1, USERS] {
        let server = server();
        let script = format!(
            "import http from 'k6/http'; import {{check}} from 'k6';
             export const options = {{scenarios: {{s: {{executor: 'constant-vus', vus: {users}, duration: '5s', gracefulStop: '5s'}}}}}};
             export default function () {{ const res = http.get(__ENV.URL); check(res, {{'is ok': r => r.status === 200}}); }}"
        );
        let (before_memory, begun) = (memory(), Instant::now());
        let mut at_start = (Duration::ZERO, 0, Duration::ZERO);
        let ended = {
            let at_start = &mut at_start;
            run_with(&script, &server.1, move |shared| {
                while shared.started.get().is_none() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                let start = begun.elapsed();
                std::thread::sleep(Duration::from_secs(2));
                *at_start = (start, memory(), cpu());
            })
        };
        let requests = ended.count("http_reqs");
        let whole = cpu();
        println!(
            "{users} users: start {:?}, {} KiB/user, {requests} requests, about {:.1} us of CPU each; log {:?}",
            at_start.0,
            (at_start.1.saturating_sub(before_memory)) / users as u64,
            (whole - at_start.2).as_secs_f64() * 1e6 / (requests * 0.6),
            &ended.log[..ended.log.len().min(200)],
        );
        assert!(requests > 0.0);
    }
}
