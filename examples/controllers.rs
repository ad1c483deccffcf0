//! Simple controllers: a path parameter, the query, JSON both ways.
//! `cargo run --example controllers -p torr-serve`, then `curl http://127.0.0.1:8080/hello/Ann` and
//! `curl -H 'Content-Type: application/json' -d '{"tea": "oolong", "pots": 2}' http://127.0.0.1:8080/orders`.

use serde::{Deserialize, Serialize};
use torr_serve::{App, Request, Response, ServeError, Server};

#[derive(Serialize)]
struct Greeting<'r> {
    hello: &'r str,
    loud: bool,
}

/// Handles `GET /hello/{name}`. Path parameters are not decoded: `Ann%20Lee` stays as it is.
fn hello(request: &Request<'_>) -> Response {
    let name = request.param("name").unwrap_or_default();
    json(&Greeting { hello: name, loud: request.query() == Some("loud") })
}

#[derive(Deserialize)]
struct Order {
    tea: String,
    pots: u32,
}

#[derive(Serialize)]
struct Bill {
    tea: String,
    cents: u64,
}

/// Handles `POST /orders`. The controller is called once the whole body is there, up to `max_body` (1 MiB).
fn order(request: &Request<'_>) -> Response {
    match serde_json::from_slice::<Order>(request.body()) {
        Ok(Order { tea, pots }) => json(&Bill { tea, cents: 350 * u64::from(pots) }),
        Err(error) => Response::error(400, format!("{error}\n")),
    }
}

fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(text) => Response::json(text),
        Err(error) => Response::error(500, format!("{error}\n")),
    }
}

fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:8080".into());
    let app = App::new().get("/hello/{name}", hello).post("/orders", order);
    let server = Server::new(app).bind(address)?.watch_signals()?;
    println!("http://{}/", server.address());
    server.run_until_signal()
}
