//! `GET /where`: the functions, locks and statements that a service spends its time on, sampled for some seconds.

use super::context::{WatchContext, refusal};
use super::query::Target;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::task::spawn_blocking;
use torr_doctor::locate::{Locator, Site};
use torr_gauge::Factor;
use torr_serve::{Request, Response};

/// The shortest and the longest time in which a service is sampled, in seconds.
const SECONDS: (f64, f64) = (0.1, 8.0);
/// The most responses per second that a load has.
const RPS: f64 = 1e9;
/// The most requests in flight that a load has.
const IN_FLIGHT: usize = 1 << 32;

/// The time from the end of sampling to the end of the load that a client measures.
const AFTER: Duration = Duration::from_secs(1);

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Wanted {
    target: Target,
    factor: Factor,
    rps: f64,
    in_flight: Option<usize>,
    time: Duration,
}

/// Refuses a request at once, or surveys the service on a thread apart, one at a time.
pub fn respond(context: &Arc<WatchContext>, request: &Request<'_>) -> impl Future<Output = Response> + use<> {
    let (wanted, context) = (wanted(context, request), Arc::clone(context));
    async move {
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(refusal) => return *refusal,
        };
        let Ok(permit) = Arc::clone(&context.surveys).try_acquire_owned() else {
            return refusal(503, "another survey runs: retry in some seconds");
        };
        let survey = move || {
            let _permit = permit;
            survey(&context, wanted)
        };
        spawn_blocking(survey).await.unwrap_or_else(|_| refusal(500, "cannot survey the service"))
    }
}

fn survey(context: &WatchContext, Wanted { target, factor, rps, in_flight, time }: Wanted) -> Response {
    let Some(survey) = &context.survey else { return not_offered() };
    let reading = match context.watchers.reading(target) {
        Ok(reading) => reading,
        Err(why) => return refusal(why.status(), &why.line(target)),
    };
    let Some(site) = Site::of_reading(factor, &reading, (rps, in_flight), time) else {
        return refusal(404, &format!("the factor {factor} has no place in a server's processes"));
    };
    let mut sampling = survey.prepare(&site);
    let stop = AtomicBool::new(false);
    sampling.sample(Duration::ZERO, &stop);
    // The load, which this program does not see, still runs for a moment.
    std::thread::sleep(AFTER);
    let located = sampling.located();
    match serde_json::to_string(&located) {
        Ok(text) => Response::json(text),
        Err(error) => refusal(500, &format!("cannot write the places: {error}")),
    }
}

fn not_offered() -> Response {
    refusal(403, "places are not offered: start it with --where")
}

/// Returns what a request asks for, or its refusal.
fn wanted(context: &WatchContext, request: &Request<'_>) -> Result<Wanted, Box<Response>> {
    context.admit_client(request)?;
    if context.survey.is_none() {
        return Err(not_offered().into());
    }
    let (own, service): (Vec<_>, Vec<_>) = request
        .query()
        .unwrap_or_default()
        .split('&')
        .partition(|part| ["factor=", "rps=", "in-flight=", "seconds="].iter().any(|name| part.starts_with(name)));
    let value = |name: &str| own.iter().find_map(|part| part.strip_prefix(name)).unwrap_or_default();
    let number = |name: &str, (least, most): (f64, f64)| {
        value(name).parse().ok().filter(|number| (least..=most).contains(number))
    };
    let bad = |line: &str| Box::new(refusal(400, line));
    let factor =
        serde_json::from_value(value("factor=").into()).map_err(|_| bad("expected factor=NAME, such as lock"))?;
    let rps = number("rps=", (0.0, RPS)).ok_or_else(|| bad("expected rps=NUMBER, the responses per second"))?;
    let in_flight = match value("in-flight=") {
        "" => None,
        text => Some(
            text.parse()
                .ok()
                .filter(|requests| (1..=IN_FLIGHT).contains(requests))
                .ok_or_else(|| bad("expected in-flight=NUMBER, the requests that wait at a time"))?,
        ),
    };
    let seconds = number("seconds=", SECONDS).ok_or_else(|| bad("expected seconds=NUMBER, from 0.1 to 8"))?;
    let target = context.target(&service.join("&"))?.ok_or_else(|| bad("expected a parameter such as port=8080"))?;
    Ok(Wanted { target, factor, rps, in_flight, time: Duration::from_secs_f64(seconds) })
}
