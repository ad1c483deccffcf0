//! An agent: takes plans from NATS, carries out its share of each by the load engine, and sends what it measures.

mod active;
mod file_store;
mod load;
mod part;

use crate::allow::AllowList;
use crate::error::FleetError;
use crate::heartbeat::{HEARTBEAT, LOST_AFTER, STOP_POLL};
use crate::limits::MOST_RULES;
use crate::load::LoadAndFiles;
use crate::message::{FilePart, Hello, LoadMessage, Message, MessageError, PlanMessage, Refusal, VERSION};
use crate::nats::{self, Nats};
use crate::role::Agent;
use crate::subject::FleetName;
use active::{Active, PATIENCE};
use async_nats::{Client, Subscriber};
use file_store::FileStore;
use futures_util::StreamExt;
use load::LoadEvent;
use part::Part;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use torr_net::{Clock, Nanos};

/// The longest time from a message to the beginning of the load that it sets. Coordinators leave half a second, and what their
/// clocks' errors add.
const LONGEST_LEAD: Nanos = 60_000_000_000;
/// The time after a signal within which a load ends. One that does not is ended with the program.
const STOP_GRACE: Duration = Duration::from_secs(10);
/// What lets an agent take loads from a server of NATS without authorization.
const TRUST: &str = "--i-trust-this-nats";

/// The settings of an agent.
#[derive(Clone)]
pub struct AgentSettings {
    /// The connection to NATS.
    pub nats: Nats,
    /// The fleet.
    pub fleet: FleetName,
    /// The agent's name, unique in the fleet.
    pub name: FleetName,
    /// The targets that it may load.
    pub allow: AllowList,
    /// The requests per second that it can make.
    pub ceiling: f64,
    /// The number of CPUs that it may use.
    pub cores: usize,
    /// The longest plan that it carries out, the warm-up included.
    pub longest: Duration,
    /// Whether it carries out scripts.
    pub scripts: bool,
    /// Whether it takes plans from a server of NATS that lets anyone in.
    pub trusts_nats: bool,
}

impl AgentSettings {
    /// Refuses an agent whose plans could come from anywhere.
    ///
    /// # Errors
    /// [`FleetError::Usage`].
    pub fn check(&self) -> Result<(), FleetError> {
        self.nats.addresses()?;
        if self.allow.len() > MOST_RULES {
            return Err(FleetError::Usage(format!("--allow must have at most {MOST_RULES} targets")));
        }
        if self.allow.goes_beyond_loopback() && !self.nats.has_credentials() && !self.trusts_nats {
            let line = "an agent that may load targets beyond loopback needs credentials: pass --creds, --nkey, or a \
                        user and password in --nats";
            return Err(FleetError::Usage(line.into()));
        }
        Ok(())
    }

    /// Refuses a server of NATS without authorization, where a plan of anyone could do harm: beyond the loopback network, and by
    /// scripts. Credentials protect no agent of a server that does not ask for any.
    ///
    /// # Errors
    /// [`FleetError::Usage`].
    fn check_server(&self, client: &Client) -> Result<(), FleetError> {
        let is_at_stake = self.nats.has_credentials()
            || self.allow.goes_beyond_loopback()
            || self.scripts && !self.nats.is_on_loopback();
        if self.trusts_nats || !is_at_stake || client.server_info().auth_required {
            return Ok(());
        }
        Err(FleetError::Usage(format!(
            "NATS at {} requires no credentials, so anyone could send this agent a load: configure users in NATS, or \
             pass {TRUST}",
            self.nats.shown()
        )))
    }
}

/// Runs an agent until `stop` is set.
///
/// # Errors
/// If the settings are wrong, or NATS cannot be reached at the start. A connection that is lost later comes back.
pub fn run(settings: AgentSettings, agent: Arc<dyn Agent>, stop: &AtomicBool) -> Result<(), FleetError> {
    settings.check()?;
    let failed = |error: std::io::Error| FleetError::NoResult(format!("system error: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let outcome = runtime.block_on(async {
        let client = settings.nats.connect(&format!("torr agent {}", settings.name), Some(&settings.name)).await?;
        settings.check_server(&client)?;
        Serving::start(settings, agent, client).await?.serve(stop).await;
        Ok(())
    });
    // A name that still resolves holds nothing up.
    runtime.shutdown_background();
    outcome
}

/// A connected agent.
struct Serving {
    settings: AgentSettings,
    agent: Arc<dyn Agent>,
    client: Client,
    clock: Clock,
    active: Option<Active>,
    /// The run whose plan is looked at apart.
    preparing: Option<FleetName>,
    files: FileStore,
    events: (mpsc::UnboundedSender<LoadEvent>, mpsc::UnboundedReceiver<LoadEvent>),
    prepared: (mpsc::UnboundedSender<Prepared>, mpsc::UnboundedReceiver<Prepared>),
    call: Subscriber,
    /// Calls of those who would take this agent's name.
    names: Subscriber,
    own: Subscriber,
    stops: Subscriber,
}

/// A plan that was looked at apart, because names have to be resolved for it.
struct Prepared {
    reply: async_nats::Subject,
    message: Box<PlanMessage>,
    plan: Part,
}

impl Serving {
    async fn start(settings: AgentSettings, agent: Arc<dyn Agent>, client: Client) -> Result<Self, FleetError> {
        let subscribe = async |subject: String| {
            let why = |error: async_nats::SubscribeError| FleetError::Nats {
                server: settings.nats.shown(),
                why: error.to_string(),
            };
            client.subscribe(subject).await.map_err(why)
        };
        refuse_taken_name(&settings, &client).await?;
        let call = subscribe(settings.fleet.call()).await?;
        let names = subscribe(settings.fleet.name_of(&settings.name)).await?;
        let own = subscribe(settings.fleet.agent(&settings.name)).await?;
        let stops = subscribe(settings.fleet.stop()).await?;
        // From the note on, the agent can be called.
        let flushed = client.flush().await;
        flushed.map_err(|error| FleetError::Nats { server: settings.nats.shown(), why: error.to_string() })?;
        let allowed = settings.allow.shown().join(", ");
        agent.note(&format!("agent {} of fleet {} is ready; it may load {allowed}", settings.name, settings.fleet));
        let (events, prepared, clock) = (mpsc::unbounded_channel(), mpsc::unbounded_channel(), Clock::start());
        Ok(Self {
            settings,
            agent,
            client,
            clock,
            active: None,
            preparing: None,
            files: FileStore::default(),
            events,
            prepared,
            call,
            names,
            own,
            stops,
        })
    }

    async fn serve(mut self, stop: &AtomicBool) {
        let mut poll = tokio::time::interval(STOP_POLL);
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        let mut stopped = None;
        loop {
            let from_run = async {
                match &mut self.active {
                    Some(active) => active.to_all.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some(message) = self.own.next() => self.own_message(message).await,
                Some(event) = self.events.1.recv() => self.load_event(event).await,
                Some(prepared) = self.prepared.1.recv() => self.take_plan(prepared).await,
                Some(message) = self.call.next() => self.called(message).await,
                Some(message) = self.names.next() => self.called(message).await,
                Some(message) = self.stops.next() => {
                    if let Ok(Message::Stop { run }) = Message::decode(&message.payload) {
                        self.stop_run(run.as_ref(), "stopped by 'torr fleet stop'");
                    }
                }
                Some(message) = from_run => self.run_message(&message.payload),
                _ = heartbeat.tick() => self.heartbeat().await,
                _ = poll.tick() => {
                    self.look_after();
                    if stop.load(Ordering::Relaxed) {
                        self.stop_run(None, "stopped, as the agent is shutting down");
                        let grace_is_over = stopped.get_or_insert_with(Instant::now).elapsed() > STOP_GRACE;
                        if grace_is_over || self.active.as_ref().is_none_or(|active| !active.is_loading()) {
                            break;
                        }
                    }
                }
            }
        }
        // What the coordinator still has to hear.
        let _ = tokio::time::timeout(nats::TIMEOUT, self.client.flush()).await;
    }

    /// Says that this agent is there.
    async fn called(&self, message: async_nats::Message) {
        if let (Some(reply), Ok(Message::Call)) = (message.reply, Message::decode(&message.payload)) {
            nats::send(&self.client, reply.to_string(), &Message::Hello(self.hello())).await;
        }
    }

    fn hello(&self) -> Hello {
        Hello {
            agent: self.settings.name.clone(),
            torr: VERSION.into(),
            machine: machine(),
            cores: self.settings.cores,
            ceiling: self.settings.ceiling,
            allow: self.settings.allow.shown(),
            run: self.active.as_ref().filter(|active| !active.has_ended()).map(|active| active.run.clone()),
        }
    }

    /// Takes a message that is for this agent alone.
    async fn own_message(&mut self, message: async_nats::Message) {
        let decoded = Message::decode(&message.payload);
        let reply = message.reply;
        let response = match decoded {
            Ok(Message::Clock) => Some(Message::Time { ns: self.clock.now() }),
            Ok(Message::Plan(plan)) => match (reply.clone(), self.busy(&plan.run)) {
                (_, Some(refused)) => Some(refused),
                (Some(reply), None) => self.prepare(reply, plan),
                (None, None) => None,
            },
            Ok(Message::File(part)) => Some(self.take_file(&part)),
            Ok(Message::Go { run, at_ns }) => Some(self.go(&run, at_ns)),
            Ok(Message::Resend { run, intervals, entries }) => {
                self.resend(&run, &intervals, &entries).await;
                None
            }
            Ok(_) => None,
            Err(error) => {
                // The coordinator says which version it needs.
                if matches!(error, MessageError::Malformed(_)) {
                    self.agent.note(&format!("a message to this agent was rejected: {error}"));
                }
                let why = format!("cannot read the coordinator's message: {error}");
                Some(Message::Refused { refusal: Refusal::Plan, why })
            }
        };
        if let (Some(reply), Some(response)) = (reply, response) {
            nats::send(&self.client, reply.to_string(), &response).await;
        }
    }

    /// Returns the refusal of a plan beside the one that is carried out.
    fn busy(&self, run: &FleetName) -> Option<Message> {
        let active = self.active.as_ref().filter(|active| !active.has_ended())?;
        let why = format!("it is busy with run {}", active.run);
        (active.run != *run || active.is_loading()).then_some(Message::Refused { refusal: Refusal::Busy, why })
    }

    /// Takes a part of a file, which a run that goes on is not disturbed by.
    fn take_file(&mut self, part: &FilePart) -> Message {
        if self.active.as_ref().is_some_and(Active::is_loading) {
            return Message::Refused { refusal: Refusal::Busy, why: "it is busy with a run".into() };
        }
        match self.files.add(part) {
            Ok(()) => Message::Ready { run: String::new() },
            Err(why) => Message::Refused { refusal: Refusal::Plan, why },
        }
    }

    /// Makes a plan and finds whether it can be carried out, apart from all that goes on. Returns a response only where files of
    /// the plan are missing.
    fn prepare(&mut self, reply: async_nats::Subject, message: Box<PlanMessage>) -> Option<Message> {
        let refused = |refusal, why: String| Some(Message::Refused { refusal, why });
        if let Err(error) = self.settings.check_server(&self.client) {
            return refused(Refusal::Plan, error.to_string());
        }
        match &self.preparing {
            // The response to the first one is on its way.
            Some(run) if *run == message.run => return None,
            Some(run) => return refused(Refusal::Busy, format!("it is preparing run {run}")),
            None => {}
        }
        let missing = self.files.missing(&message.load);
        if !missing.is_empty() {
            return Some(Message::Missing { files: missing });
        }
        let LoadMessage { load, variables, secrets, .. } = message.load.clone();
        let load = LoadAndFiles { load, files: self.files.take(&message.load), records: None, variables, secrets };
        self.preparing = Some(message.run.clone());
        let (agent, settings, sender) = (Arc::clone(&self.agent), self.settings.clone(), self.prepared.0.clone());
        tokio::task::spawn_blocking(move || {
            let plan = part::part_of(agent.as_ref(), (&settings.allow, settings.longest), &message, load);
            // Without a receiver the agent has ended.
            let _ = sender.send(Prepared { reply, message, plan });
        });
        None
    }

    async fn take_plan(&mut self, prepared: Prepared) {
        let Prepared { reply, message, plan } = prepared;
        let run = message.run.clone();
        let is_wanted = self.preparing.take_if(|preparing| *preparing == run).is_some();
        let response = match (self.busy(&run), plan) {
            (Some(busy), _) => busy,
            _ if !is_wanted => Message::Refused { refusal: Refusal::Plan, why: "the run was stopped".into() },
            (None, Err((refusal, why))) => {
                self.agent.note(&format!("run {run}: refused: {why}"));
                Message::Refused { refusal, why }
            }
            (None, Ok(plan)) => match self.client.subscribe(self.settings.fleet.to_all(&run)).await {
                Ok(to_all) => {
                    let target = plan.target.host_and_port();
                    let part = 100.0 * message.part;
                    let connections = match message.connections {
                        1 => "1 connection".to_owned(),
                        many => format!("{many} connections"),
                    };
                    self.agent.note(&format!("run {run}: {part:.1}% of a load on {target}, {connections}"));
                    self.active = Some(Active::new(run.clone(), plan, message.if_lost, to_all));
                    Message::Ready { run: run.to_string() }
                }
                Err(error) => Message::Refused { refusal: Refusal::Plan, why: error.to_string() },
            },
        };
        nats::send(&self.client, reply.to_string(), &response).await;
    }

    /// Starts the load of a run at a time.
    fn go(&mut self, run: &FleetName, at_ns: Nanos) -> Message {
        let refused = |why: &str| Message::Refused { refusal: Refusal::Plan, why: why.into() };
        let Some(active) = self.active.as_mut().filter(|active| active.run == *run) else {
            return refused("it has no plan of this run");
        };
        if at_ns.saturating_sub(self.clock.now()) > LONGEST_LEAD {
            return refused("the start is more than a minute away");
        }
        // A repeated message finds the load begun.
        let Some(plan) = active.plan.take() else { return Message::Ready { run: run.to_string() } };
        let (agent, sender) = (Arc::clone(&self.agent), self.events.0.clone());
        let begun = load::start(plan, (self.clock, at_ns), Arc::clone(&active.stop), agent, sender);
        match begun {
            Ok(()) => {
                active.loads = true;
                active.heard();
                Message::Ready { run: run.to_string() }
            }
            Err(error) => refused(&format!("cannot start a thread: {error}")),
        }
    }

    /// Takes what the load reports.
    async fn load_event(&mut self, event: LoadEvent) {
        let Some(active) = &mut self.active else { return };
        let subject = self.settings.fleet.of_agent(&active.run, &self.settings.name);
        match event {
            LoadEvent::Began(at_ns) => nats::send(&self.client, subject, &Message::Began { at_ns }).await,
            LoadEvent::Interval(number, bytes) => {
                active.keep(number, bytes.clone());
                nats::publish(&self.client, subject, bytes).await;
            }
            LoadEvent::Entry(bytes) => {
                active.keep_entry(bytes.clone());
                nats::publish(&self.client, subject, bytes).await;
            }
            LoadEvent::End(bytes) => {
                active.end(bytes.clone());
                nats::publish(&self.client, subject, bytes).await;
                self.agent.note(&format!("run {}: ended", active.run));
            }
        }
    }

    async fn resend(&self, run: &FleetName, intervals: &[u64], entries: &[u64]) {
        let Some(active) = self.active.as_ref().filter(|active| active.run == *run) else { return };
        let subject = self.settings.fleet.of_agent(run, &self.settings.name);
        for bytes in active.kept(intervals, entries) {
            nats::publish(&self.client, subject.clone(), bytes).await;
        }
    }

    /// Takes a message of the run's coordinator to all agents.
    fn run_message(&mut self, payload: &[u8]) {
        let Some(active) = &mut self.active else { return };
        match Message::decode(payload) {
            Ok(Message::Alive) => active.heard(),
            Ok(Message::Stop { run }) if run.as_ref() == Some(&active.run) => {
                let run = active.run.clone();
                self.stop_run(Some(&run), "stopped by the coordinator");
            }
            _ => {}
        }
    }

    /// Stops a run, or whatever run there is, also one that is prepared.
    fn stop_run(&mut self, run: Option<&FleetName>, why: &str) {
        self.preparing.take_if(|preparing| run.is_none_or(|run| preparing == run));
        let Some(active) = self.active.as_ref().filter(|active| run.is_none_or(|run| active.run == *run)) else {
            return;
        };
        if active.is_loading() {
            if !active.stop.swap(true, Ordering::Relaxed) {
                self.agent.note(&format!("run {}: {why}", active.run));
            }
        } else {
            self.active = None;
        }
    }

    async fn heartbeat(&self) {
        let Some(active) = self.active.as_ref().filter(|active| active.is_loading()) else { return };
        let subject = self.settings.fleet.of_agent(&active.run, &self.settings.name);
        nats::send(&self.client, subject, &Message::Alive).await;
    }

    /// Ends what no coordinator looks after any more.
    fn look_after(&mut self) {
        // A plan has its own, once it is made.
        self.files.forget_after(PATIENCE);
        let Some(active) = &self.active else { return };
        let silence = active.silence();
        match active.is_loading() {
            true if silence > LOST_AFTER && active.stops_alone() => {
                let run = active.run.clone();
                self.stop_run(Some(&run), "stopped, as the coordinator sends no more heartbeats");
            }
            false if silence > PATIENCE => self.active = None,
            _ => {}
        }
    }
}

/// Returns what all programs on this machine, also in containers, find the same until it is started again.
pub fn machine() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Refuses a name that another agent responds to: both would take each plan, and the target would have the load of both.
async fn refuse_taken_name(settings: &AgentSettings, client: &Client) -> Result<(), FleetError> {
    let request = async_nats::Request::new().payload(Message::Call.encode()).timeout(Some(HEARTBEAT));
    match client.send_request(settings.fleet.name_of(&settings.name), request).await {
        Ok(_) => Err(FleetError::Usage(format!(
            "fleet {} already has an agent {}: use another --name",
            settings.fleet, settings.name
        ))),
        // Without a response there is none, or one that has just been lost.
        Err(_) => Ok(()),
    }
}
