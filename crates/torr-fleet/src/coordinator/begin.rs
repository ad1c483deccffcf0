//! The beginning of a run: agents are gathered, their clocks compared, their shares accepted, and a time is set.

use super::settings::{RunSettings, Watch};
use crate::clock::{Exchange, Offset};
use crate::error::FleetError;
use crate::fleet::gather;
use crate::load::{self, AgentLoad};
use crate::message::{Digest, Message, MessageError, PlanMessage, Refusal};
use crate::shares::shares;
use crate::subject::FleetName;
use async_nats::{Client, Subscriber};
use futures_util::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use torr_net::{Clock, Nanos, clock};
use torr_press::{Plan, Share};

/// The number of exchanges by which a clock's offset is estimated.
const EXCHANGES: usize = 20;
/// The least time between the last agent's readiness and the beginning, within which each agent hears of it and prepares its load; and
/// what each agent adds, up to the most: if all are on one machine of two CPUs, that is the time of their preparation.
const LEAD: (Duration, Duration, Duration) =
    (Duration::from_millis(200), Duration::from_millis(2), Duration::from_millis(500));
/// The time-out of a plan: an agent resolves names and connects to the target.
const PLAN_TIMEOUT: Duration = Duration::from_secs(15);

/// A run whose agents know when to begin.
pub(super) struct Begun {
    /// The run's identifier.
    pub run: FleetName,
    pub agents: Vec<Member>,
    /// The local time of the beginning.
    pub at: Nanos,
    /// What agents say from now on.
    pub from_agents: Subscriber,
    /// What ends the run from outside.
    pub stops: Subscriber,
}

/// An agent of the run.
pub(super) struct Member {
    pub name: FleetName,
    pub share: Share,
    pub offset: Offset,
}

impl Begun {
    /// Brings a fleet to the point where the load begins by itself.
    pub async fn of(
        settings: &RunSettings,
        plan: &Plan,
        (client, time): (&Client, Clock),
        run: FleetName,
        watch: &mut dyn Watch,
    ) -> Result<Self, FleetError> {
        let lost = |why: String| FleetError::Nats { server: settings.nats.shown(), why };
        let from_agents = client.subscribe(settings.fleet.of_agents(&run)).await;
        let from_agents = from_agents.map_err(|error| lost(error.to_string()))?;
        let stops = client.subscribe(settings.fleet.stop()).await.map_err(|error| lost(error.to_string()))?;
        let RunSettings { nats, fleet, members, wait, .. } = settings;
        let found = gather((client, nats), fleet, members, *wait).await?;
        let hellos = members.chosen(found, fleet, *wait)?;
        let ceilings: Vec<f64> = hellos.iter().map(|hello| hello.ceiling).collect();
        let shares = shares(&ceilings, plan.connections, plan.requests)?;
        let each = hellos.iter().zip(shares).map(|(hello, share)| async move {
            let agent = Asking { settings, client, time, name: &hello.agent };
            let offset = agent.offset().await?;
            Ok(Member { name: hello.agent.clone(), share, offset })
        });
        let agents = join_all(each).await.into_iter().collect::<Result<Vec<_>, FleetError>>()?;
        let loads = settings.load.of_agents(agents.len()).map_err(FleetError::Usage)?;
        let plans = agents.iter().zip(loads).map(|(member, load)| async {
            let AgentLoad { message: load, files, .. } = load;
            let plan = PlanMessage {
                run: run.clone(),
                load,
                part: member.share.part,
                connections: member.share.connections,
                requests: member.share.requests,
                phase: member.share.phase,
                users_before: member.share.users_before,
                if_lost: settings.if_lost,
            };
            let agent = Asking { settings, client, time, name: &member.name };
            agent.takes_plan(plan, &files).await
        });
        all(join_all(plans).await)?;
        not_ended(plan)?;
        let farthest = agents.iter().map(|member| member.offset.error).max().unwrap_or(0);
        let (least, each, most) = LEAD;
        let lead = (least + each * agents.len() as u32).min(most);
        let at = time.now() + clock::nanos(lead) + 4 * farthest;
        let goes = agents.iter().map(|member| async {
            let go = Message::Go { run: run.clone(), at_ns: member.offset.to_remote(at) };
            let agent = Asking { settings, client, time, name: &member.name };
            agent.accepts(&go, crate::nats::TIMEOUT).await
        });
        all(join_all(goes).await)?;
        let names: Vec<_> = agents.iter().map(|member| member.name.as_str()).collect();
        watch.begins(&format!("run {run} of fleet {}: {}", settings.fleet, names.join(", ")));
        Ok(Self { run, agents, at, from_agents, stops })
    }
}

/// Demands that the run's operator has not ended it while it was prepared.
fn not_ended(plan: &Plan) -> Result<(), FleetError> {
    match plan.steering.as_ref().is_some_and(|steering| steering.is_ended()) {
        true => Err(FleetError::NoResult("ended before the run began".into())),
        false => Ok(()),
    }
}

/// Returns the first error, an agent that cannot reach the target last: the others' reasons explain more.
fn all(outcomes: Vec<Result<(), FleetError>>) -> Result<(), FleetError> {
    let mut errors: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
    errors.sort_by_key(|error| matches!(error, FleetError::Unreachable(_)));
    errors.into_iter().next().map_or(Ok(()), Err)
}

/// Requests to one agent.
struct Asking<'a> {
    settings: &'a RunSettings,
    client: &'a Client,
    time: Clock,
    name: &'a FleetName,
}

impl Asking<'_> {
    /// Sends a message and returns the response.
    async fn request(&self, message: &Message, timeout: Duration) -> Result<Message, FleetError> {
        let request = async_nats::Request::new().payload(message.encode()).timeout(Some(timeout));
        let subject = self.settings.fleet.agent(self.name);
        let name = self.name;
        let silent = |error: async_nats::RequestError| FleetError::Agents(format!("agent {name}: {error}"));
        let response = self.client.send_request(subject, request).await.map_err(silent)?;
        let wrong = |error: MessageError| FleetError::Agents(format!("agent {name}: {error}"));
        Message::decode(&response.payload).map_err(wrong)
    }

    /// Estimates the offset of the agent's clock.
    async fn offset(&self) -> Result<Offset, FleetError> {
        let mut exchanges = Vec::with_capacity(EXCHANGES);
        for _ in 0..EXCHANGES {
            let sent = self.time.now();
            let response = self.request(&Message::Clock, crate::nats::TIMEOUT).await?;
            let received = self.time.now();
            match response {
                Message::Time { ns: remote } => exchanges.push(Exchange { sent, received, remote }),
                other => return Err(self.refusal(other)),
            }
        }
        Offset::estimate(&exchanges).ok_or_else(|| FleetError::Agents("cannot compare the clocks".into()))
    }

    /// Sends a plan, and the files that the agent does not have.
    async fn takes_plan(&self, plan: PlanMessage, files: &BTreeMap<Digest, Arc<[u8]>>) -> Result<(), FleetError> {
        plan.check().map_err(|error| FleetError::Usage(format!("agents do not support this load: {error}")))?;
        let plan = Message::Plan(Box::new(plan));
        let missing = match self.request(&plan, PLAN_TIMEOUT).await? {
            Message::Ready { .. } => return Ok(()),
            Message::Missing { files } => files.into_iter().collect::<BTreeSet<_>>(),
            other => return Err(self.refusal(other)),
        };
        for (digest, content) in missing.iter().filter_map(|digest| files.get_key_value(digest)) {
            for part in load::parts(digest, content) {
                self.accepts(&Message::File(Box::new(part)), crate::nats::TIMEOUT).await?;
            }
        }
        self.accepts(&plan, PLAN_TIMEOUT).await
    }

    /// Sends a message that the agent accepts or refuses.
    async fn accepts(&self, message: &Message, timeout: Duration) -> Result<(), FleetError> {
        match self.request(message, timeout).await? {
            Message::Ready { .. } => Ok(()),
            other => Err(self.refusal(other)),
        }
    }

    fn refusal(&self, response: Message) -> FleetError {
        let name = self.name;
        match response {
            Message::Refused { refusal, why } => {
                let line = format!("agent {name} rejected the run: {}", why);
                match refusal {
                    Refusal::Unreachable => FleetError::Unreachable(line),
                    Refusal::Busy => FleetError::Agents(line),
                    Refusal::Target | Refusal::Plan => FleetError::Usage(line),
                }
            }
            _ => FleetError::Agents(format!("agent {name} sent an unexpected response")),
        }
    }
}
