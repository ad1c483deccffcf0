//! The agents of a fleet: who is there, and an end to what they do.

use crate::error::FleetError;
use crate::limits::MOST_AGENTS;
use crate::members::Members;
use crate::message::{Hello, Message};
use crate::nats::{self, Nats};
use crate::subject::FleetName;
use async_nats::Client;
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// The time between two calls while agents are waited for.
const CALL_AGAIN: Duration = Duration::from_millis(300);

/// The time within which agents respond that receive the end of a run.
const RESPONSE: Duration = Duration::from_secs(1);

/// Returns the agents that respond within a time.
///
/// # Errors
/// If NATS cannot be reached, or an agent speaks another version of the messages.
pub fn list(nats: &Nats, fleet: &FleetName, wait: Duration) -> Result<Vec<Hello>, FleetError> {
    block_on(async {
        let client = nats.connect("torr fleet list", None).await?;
        gather((&client, nats), fleet, &Members::All, wait).await
    })
}

/// Returns the agents of a fleet that could take part in a run now, in the order of their names.
///
/// # Errors
/// If NATS cannot be reached, or the members are not there within a time.
pub fn find(nats: &Nats, fleet: &FleetName, members: &Members, wait: Duration) -> Result<Vec<Hello>, FleetError> {
    block_on(async {
        let client = nats.connect("torr fleet", None).await?;
        members.chosen(gather((&client, nats), fleet, members, wait).await?, fleet, wait)
    })
}

/// Ends a run, or all runs of a fleet. Returns the agents that respond within a time, each as it was before.
///
/// # Errors
/// If NATS cannot be reached.
pub fn stop(nats: &Nats, fleet: &FleetName, run: Option<&FleetName>) -> Result<Vec<Hello>, FleetError> {
    block_on(async {
        let client = nats.connect("torr fleet stop", None).await?;
        let failed = |error: &dyn std::error::Error| FleetError::Nats { server: nats.shown(), why: error.to_string() };
        let inbox = client.new_inbox();
        let mut responses = client.subscribe(inbox.clone()).await.map_err(|error| failed(&error))?;
        let call = client.publish_with_reply(fleet.call(), inbox, Message::Call.encode());
        call.await.map_err(|error| failed(&error))?;
        nats::send(&client, fleet.stop(), &Message::Stop { run: run.cloned() }).await;
        client.flush().await.map_err(|error| failed(&error))?;
        let (mut found, end) = (BTreeMap::new(), Instant::now() + RESPONSE);
        while let Ok(Some(response)) = tokio::time::timeout_at(end, responses.next()).await {
            if let Ok(Message::Hello(hello)) = Message::decode(&response.payload) {
                add(&mut found, hello, fleet)?;
            }
        }
        Ok(found.into_values().collect())
    })
}

/// Adds an agent to those that responded.
///
/// # Errors
/// If there are more than a run may have.
fn add(found: &mut BTreeMap<FleetName, Hello>, hello: Hello, fleet: &FleetName) -> Result<(), FleetError> {
    found.insert(hello.agent.clone(), hello);
    match found.len() <= MOST_AGENTS {
        true => Ok(()),
        false => Err(FleetError::Agents(format!(
            "more than {MOST_AGENTS} agents of fleet {fleet} responded: divide them into several fleets with --fleet"
        ))),
    }
}

/// Runs a future on a runtime of its own.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, FleetError>>) -> Result<T, FleetError> {
    let failed = |error: std::io::Error| FleetError::NoResult(format!("system error: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let outcome = runtime.block_on(future);
    runtime.shutdown_background();
    outcome
}

/// Calls until all members have responded and have no run, at most for a time. Returns all agents that
/// responded, in the order of their names.
pub(crate) async fn gather(
    (client, nats): (&Client, &Nats),
    fleet: &FleetName,
    members: &Members,
    wait: Duration,
) -> Result<Vec<Hello>, FleetError> {
    let failed = |error: &dyn std::error::Error| FleetError::Nats { server: nats.shown(), why: error.to_string() };
    let inbox = client.new_inbox();
    let mut responses = client.subscribe(inbox.clone()).await.map_err(|error| failed(&error))?;
    let (mut found, end) = (BTreeMap::new(), Instant::now() + wait);
    let mut again = tokio::time::interval(CALL_AGAIN);
    while !members.are_among(&found) {
        tokio::select! {
            () = tokio::time::sleep_until(end) => break,
            _ = again.tick() => {
                let call = client.publish_with_reply(fleet.call(), inbox.clone(), Message::Call.encode());
                call.await.map_err(|error| failed(&error))?;
            }
            // What has a status is of NATS itself: no agent has the subject of the call.
            Some(response) = responses.next() => if response.status.is_none() {
                match Message::decode(&response.payload) {
                    Ok(Message::Hello(hello)) => add(&mut found, hello, fleet)?,
                    Err(error) => {
                        return Err(FleetError::Agents(format!("an agent of fleet {fleet} cannot take part: {error}")));
                    }
                    Ok(_) => {}
                }
            }
        }
    }
    Ok(found.into_values().collect())
}
