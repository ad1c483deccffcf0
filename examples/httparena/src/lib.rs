//! HttpArena's profiles on torr-serve, in the class "production": documented interfaces, default settings.
//!
//! | port | protocol | paths |
//! |---|---|---|
//! | 8080 | HTTP/1.1, WebSocket | all but `/baseline2` |
//! | 8081 | HTTP/1.1 over TLS | `/json/{count}` |
//! | 8082 | HTTP/2 without TLS, by prior knowledge | `/baseline2`, `/json/{count}` |
//! | 8443 | HTTP/2 over TLS | `/baseline2`, `/static/{file}` |

mod cache;
mod config;
mod crud;
mod database;
mod echo;
mod files;
mod item;
mod json;
mod query;
mod range;
mod response;
mod servers;
mod sum;
mod upload;

use config::Config;
use std::process::ExitCode;

/// Serves until SIGTERM or SIGINT, as the environment says. A mistake there is one line on standard error and exit code 2.
pub fn main() -> ExitCode {
    match Config::read(|name| std::env::var(name).ok()).and_then(|config| servers::run(&config)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("torr-httparena: {error}");
            ExitCode::from(2)
        }
    }
}
