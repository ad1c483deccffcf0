//! The comparison of one program: both variants are started one after the other and get the same requests.

use crate::client::Client;
use crate::compare::differences;
use crate::listed::Program;
use crate::request::Request;
use crate::response::Response;
use crate::server::Server;
use crate::table::{Result as Outcome, Row};
use crate::workspace::{Built, Outcomes};
use std::fs;
use std::path::Path;

/// The folder, below a program's own, for what it writes. It is empty when a program starts.
const SCRATCH: &str = "scratch";

/// Runs both variants of a program and compares their responses.
pub fn run(program: &Program, built: &Outcomes, show: bool) -> Row {
    let outcome = match &built[&program.name] {
        Err(why) => Outcome::NotRun(why.clone()),
        Ok(built) => compare(program, built, show).unwrap_or_else(Outcome::NotRun),
    };
    let lines_changed = built[&program.name].as_ref().map_or(0, |built| built.lines_changed);
    Row { name: program.name.clone(), source: program.source.clone(), lines_changed, outcome }
}

fn compare(program: &Program, built: &Built, show: bool) -> Result<Outcome, String> {
    let requests = program.requests()?;
    let axum = responses(program, built, &built.original, &requests)?;
    let torr = responses(program, built, &built.changed, &requests)?;
    let mut found = Vec::new();
    for ((request, axum), torr) in requests.iter().zip(&axum).zip(&torr) {
        let label = format!("{} {}", request.method, request.path);
        if show {
            eprintln!("  {label}: {} | {} | {} bytes", axum.status_line, torr.status_line, axum.body.len());
        }
        found.extend(differences(program, axum, torr).into_iter().map(|what| format!("{label}: {what}")));
    }
    // A program that fails under both servers alike shows nothing.
    let worked = axum.iter().filter(|response| (100..400).contains(&response.status())).count();
    if worked == 0 {
        return Err("no request succeeds under axum::serve".to_owned());
    }
    Ok(Outcome::Compared { requests: requests.len(), found })
}

fn responses(program: &Program, built: &Built, variant: &Path, requests: &[Request]) -> Result<Vec<Response>, String> {
    let scratch = built.folder.join(SCRATCH);
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let output = variant.with_extension("output");
    let server = Server::start(variant, &built.folder, &output, &program.environment)?;
    let mut client = Client::new(server.address);
    Ok(requests.iter().map(|request| client.exchange(request)).collect())
}
