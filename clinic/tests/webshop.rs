//! The web shop of the examples has the pages that its tutorial goes through, and the same ones when its faults are mended.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

/// A running shop, which ends with this.
struct Shop {
    process: Child,
    port: u16,
}

impl Shop {
    fn start(mended: &[&str]) -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/webshop/shop.py");
        let process = Command::new("python3").arg(script).arg(port.to_string()).args(mended).spawn();
        let mut shop = Self { process: process.expect("there is python3"), port };
        let begin = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(shop.process.try_wait().expect("it is ours").is_none(), "the shop has ended");
            assert!(begin.elapsed() < Duration::from_secs(60), "the shop does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        shop
    }

    /// Returns the response to a request.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("it writes text");
        response
    }

    /// Returns the content of a page.
    fn page(&self, path: &str) -> String {
        let response = self.get(path);
        let (head, content) = response.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{path}: {response}"));
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {response}");
        content.to_owned()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}

#[test]
fn a_shop_whose_faults_are_mended_has_the_same_pages() {
    let (slow, fast) = (Shop::start(&[]), Shop::start(&["template", "index", "lock"]));
    let products = |page: &str| page.matches("Lamp &amp; shade no. ").count();
    for (path, count) in [("/catalogue", 300), ("/category/7", 10), ("/category/499", 10)] {
        let page = slow.page(path);
        assert_eq!(products(&page), count, "{page}");
        assert_eq!(page, fast.page(path));
    }
    assert_eq!(slow.page("/stock/7"), fast.page("/stock/7"));
    assert!(slow.get("/nothing").starts_with("HTTP/1.1 404 "));
    let tutorial = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/where.md"));
    let tutorial = tutorial.expect("it is a page of the guide");
    for page in ["/catalogue", "/category/7", "/stock/7"] {
        assert!(tutorial.contains(&format!("torr doctor http://127.0.0.1:8000{page}")), "{page}");
    }
}

#[test]
fn a_word_that_mends_nothing_is_refused() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/webshop/shop.py");
    let ended = Command::new("python3").arg(script).args(["8000", "everything"]).output().expect("there is python3");
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ended.stderr).starts_with("usage: "), "{ended:?}");
}
