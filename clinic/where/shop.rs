//! A shop: `shop HOST PORT`. Each path is a page with a fault of its own; the environment sets the sizes of its data.
//!
//! `/search` writes each name in lower case again for each request, `/bestsellers` sorts copies of all names, `/stock` asks the
//! supplier while it holds a lock, and `/overview` computes six figures, each as expensive as the others.

use std::collections::HashMap;
use std::env;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[cfg(coz)]
#[path = "../coz/progress.rs"]
mod progress;

struct Product {
    number: u32,
    name: String,
    sold: u32,
    price: f64,
    weight: f64,
    volume: f64,
    deposit: f64,
    tax: f64,
    points: f64,
}

struct Shop {
    products: Vec<Product>,
    searched: usize,
    sorted: usize,
    rounds: usize,
    held: Duration,
    stock: Mutex<HashMap<u32, u32>>,
}

/// Returns a number of the environment, or the usual one.
fn size_of(name: &str, usual: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

impl Shop {
    fn new() -> Self {
        let product = |number: u32| {
            let of = |factor: u32, modulus: u32| f64::from(number * factor % modulus) + 0.5;
            Product {
                number,
                name: format!("Article {:05} of the Series {}", number * 7919 % 99_991, number % 17),
                sold: number * 31 % 1009,
                price: of(13, 97),
                weight: of(17, 89),
                volume: of(19, 83),
                deposit: of(23, 79),
                tax: of(29, 73),
                points: of(37, 71),
            }
        };
        Self {
            products: (0..20_000).map(product).collect(),
            searched: size_of("SEARCHED", 20_000),
            sorted: size_of("SORTED", 1600),
            rounds: size_of("ROUNDS", 6),
            held: Duration::from_micros(size_of("HELD_US", 2000) as u64),
            stock: Mutex::new(HashMap::new()),
        }
    }

    /// Returns whether a product's name has a word, in whatever case.
    fn has_word(product: &Product, word: &str) -> bool { // clinic: search
        product.name.to_lowercase().contains(&word.to_lowercase())
    } // clinic: search

    fn search(&self, word: &str) -> String {
        let found = self.products[..self.searched].iter().filter(|product| Self::has_word(product, word));
        let mut page = String::new();
        for product in found.take(200) {
            let _ = writeln!(page, "{} {}: {:.2}", product.number, product.name, product.price);
        }
        page
    }

    /// Returns the products in the order of what was sold of them, and of their names where that is equal.
    fn by_sales(&self) -> Vec<&Product> { // clinic: bestsellers
        let mut products: Vec<_> = self.products[..self.sorted].iter().collect();
        products.sort_by_key(|product| (u32::MAX - product.sold, product.name.clone()));
        products
    } // clinic: bestsellers

    fn best_sellers(&self) -> String {
        let mut page = String::new();
        for product in self.by_sales().iter().take(40) {
            let _ = writeln!(page, "{} {}: {}", product.number, product.name, product.sold);
        }
        page
    }

    /// Asks the supplier for the stock of a product, which takes some milliseconds.
    fn ask_supplier(&self, number: u32) -> u32 {
        thread::sleep(self.held); // clinic: stock-held
        number * 7 % 100
    }

    fn stock(&self, number: u32) -> String {
        let mut stock = self.stock.lock().expect("no thread panics"); // clinic: stock
        let count = self.ask_supplier(number); // clinic: stock
        stock.insert(number, count); // clinic: stock
        drop(stock);
        format!("{count} of article {number}\n")
    }

    fn page(&self, path: &str) -> Option<String> {
        match path {
            "/" => Some("a shop\n".into()),
            "/search" => Some(self.search("brass")),
            "/bestsellers" => Some(self.best_sellers()),
            "/stock" => Some(self.stock(7)),
            "/overview" => Some(self.overview()),
            _ => None,
        }
    }
}

/// Defines a figure of the overview: each is a loop of its own.
macro_rules! figure {
    ($name:ident, $field:ident) => {
        fn $name(&self) -> f64 {
            let mut sum = 0.0;
            for _ in 0..self.rounds {
                for product in &self.products {
                    sum += product.$field * f64::from(product.sold);
                }
            }
            sum / self.rounds as f64
        }
    };
}

impl Shop {
    figure!(total_price, price);
    figure!(total_weight, weight);
    figure!(total_volume, volume);
    figure!(total_deposit, deposit);
    figure!(total_tax, tax);
    figure!(total_points, points);

    fn overview(&self) -> String {
        let (price, weight, volume) = (self.total_price(), self.total_weight(), self.total_volume());
        let (deposit, tax, points) = (self.total_deposit(), self.total_tax(), self.total_points());
        format!("price {price}\nweight {weight}\nvolume {volume}\ndeposit {deposit}\ntax {tax}\npoints {points}\n")
    }
}

/// Serves a connection until the client closes it.
fn serve(shop: &Shop, stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut reader, mut writer) = (BufReader::new(stream.try_clone()?), stream);
    loop {
        let (mut line, mut first, mut closes) = (String::new(), String::new(), false);
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let field = line.trim_end();
            if field.is_empty() {
                break;
            }
            closes |= field.eq_ignore_ascii_case("connection: close");
            if first.is_empty() {
                first = field.to_owned();
            }
        }
        let path = first.split(' ').nth(1).unwrap_or("/");
        let (status, content) = match shop.page(path) {
            Some(content) => ("200 OK", content),
            None => ("404 Not Found", "not found\n".into()),
        };
        let close = if closes { "Connection: close\r\n" } else { "" };
        let length = content.len();
        let response = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n{close}\r\n{content}");
        writer.write_all(response.as_bytes())?;
        #[cfg(coz)]
        progress::response();
        if closes {
            return Ok(());
        }
    }
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = env::args().collect();
    let (host, port) = match &words[..] {
        [_, host, port] => (host, port),
        _ => {
            eprintln!("usage: shop HOST PORT");
            std::process::exit(2)
        }
    };
    #[cfg(coz)]
    progress::ends_at_sigterm();
    let shop = Arc::new(Shop::new());
    let listener = TcpListener::bind(format!("{host}:{port}"))?;
    for stream in listener.incoming().flatten() {
        let shop = Arc::clone(&shop);
        thread::spawn(move || serve(&shop, stream));
    }
    Ok(())
}
