//! An agent: takes plans from NATS, carries out its share of each by the load engine, and sends what it measures.

mod active;
mod file_store;
mod load;

use crate::allow::AllowList;
use crate::error::FleetError;
use crate::heartbeat::{HEARTBEAT, LOST_AFTER};
use crate::load::Load;
use crate::message::{FilePart, Hello, LoadMessage, Message, MessageError, PlanMessage, Refusal, VERSION};
use crate::nats::{self, Nats};
use crate::role::Agent;
use crate::subject::FleetName;
use active::{Active, PATIENCE};
use async_nats::{Client, Subscriber};
use file_store::FileStore;
use futures_util::StreamExt;
use load::LoadEvent;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use torr_net::{Address, Clock};
use torr_press::Plan;

/// How often the signal to stop is looked for.
const STOP_POLL: Duration = Duration::from_millis(20);
/// The time-out of the connection by which an agent finds whether it can reach the target.
const REACH: Duration = Duration::from_secs(5);

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
}

impl AgentSettings {
    /// Refuses an agent whose plans could come from anywhere.
    ///
    /// # Errors
    /// [`FleetError::Usage`].
    pub fn check(&self) -> Result<(), FleetError> {
        self.nats.addresses()?;
        if self.allow.goes_beyond_loopback() && !self.nats.has_credentials() {
            let line = "an agent that may load targets beyond loopback takes plans by credentials only: give --creds, \
                        --nkey, or a user and password in --nats";
            return Err(FleetError::Usage(line.into()));
        }
        Ok(())
    }
}

/// Runs an agent until `stop` is set.
///
/// # Errors
/// If the settings are wrong, or NATS cannot be reached at the start. A connection that is lost later comes back.
pub fn run(settings: AgentSettings, agent: Arc<dyn Agent>, stop: &AtomicBool) -> Result<(), FleetError> {
    settings.check()?;
    let failed = |error: std::io::Error| FleetError::NoResult(format!("the system refused: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let outcome = runtime.block_on(async {
        let client = settings.nats.connect(&format!("torr agent {}", settings.name), Some(&settings.name)).await?;
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
    plan: Result<Plan, (Refusal, String)>,
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
        let names = subscribe(settings.fleet.name_of(settings.name.as_str())).await?;
        let own = subscribe(settings.fleet.agent(settings.name.as_str())).await?;
        let stops = subscribe(settings.fleet.stop()).await?;
        // From the note on, the agent can be called.
        let flushed = client.flush().await;
        flushed.map_err(|error| FleetError::Nats { server: settings.nats.shown(), why: error.to_string() })?;
        let allowed = settings.allow.shown().join(", ");
        agent.note(&format!("agent {} of the fleet {} is ready; it may load {allowed}", settings.name, settings.fleet));
        let (events, prepared, clock) = (mpsc::unbounded_channel(), mpsc::unbounded_channel(), Clock::start());
        Ok(Self {
            settings,
            agent,
            client,
            clock,
            active: None,
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
                        self.stop_run(run.as_deref(), "it was stopped by 'torr fleet stop'");
                    }
                }
                Some(message) = from_run => self.run_message(&message.payload),
                _ = heartbeat.tick() => self.heartbeat().await,
                _ = poll.tick() => {
                    self.look_after();
                    if stop.load(Ordering::Relaxed) {
                        self.stop_run(None, "the agent ends");
                        if self.active.as_ref().is_none_or(|active| !active.is_loading()) {
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
            agent: self.settings.name.to_string(),
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
            Err(error @ MessageError::Version(_)) => {
                Some(Message::Refused { refusal: Refusal::Plan, why: format!("of the coordinator: {error}") })
            }
            Err(MessageError::Malformed(_)) => None,
        };
        if let (Some(reply), Some(response)) = (reply, response) {
            nats::send(&self.client, reply.to_string(), &response).await;
        }
    }

    /// Returns the refusal of a plan beside the one that is carried out.
    fn busy(&self, run: &str) -> Option<Message> {
        let active = self.active.as_ref().filter(|active| !active.has_ended())?;
        let why = format!("it carries out the run {}", active.run);
        (active.run != run || active.is_loading()).then_some(Message::Refused { refusal: Refusal::Busy, why })
    }

    /// Takes a part of a file, which a run that goes on is not disturbed by.
    fn take_file(&mut self, part: &FilePart) -> Message {
        if self.active.as_ref().is_some_and(Active::is_loading) {
            return Message::Refused { refusal: Refusal::Busy, why: "it carries out a run".into() };
        }
        match self.files.add(part) {
            Ok(()) => Message::Ready { run: String::new() },
            Err(why) => Message::Refused { refusal: Refusal::Plan, why },
        }
    }

    /// Makes a plan and finds whether it can be carried out, apart from all that goes on. Returns a response only where files of
    /// the plan are missing.
    fn prepare(&mut self, reply: async_nats::Subject, message: Box<PlanMessage>) -> Option<Message> {
        let missing = self.files.missing(&message.load);
        if !missing.is_empty() {
            return Some(Message::Missing { files: missing });
        }
        let LoadMessage { words, variables, secrets, .. } = message.load.clone();
        let load = Load { words, files: self.files.take(&message.load), records: None, variables, secrets };
        let (agent, settings, sender) = (Arc::clone(&self.agent), self.settings.clone(), self.prepared.0.clone());
        tokio::task::spawn_blocking(move || {
            let plan = make_plan(agent.as_ref(), &settings, &message, load);
            // Without a receiver the agent has ended.
            let _ = sender.send(Prepared { reply, message, plan });
        });
        None
    }

    async fn take_plan(&mut self, prepared: Prepared) {
        let Prepared { reply, message, plan } = prepared;
        let run = message.run.clone();
        let response = match (self.busy(&run), plan) {
            (Some(busy), _) => busy,
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
                    self.agent.note(&format!("run {run}: {part:.1}% of a load on {target}, with {connections}"));
                    self.active = Some(Active::new(run.clone(), plan, message.if_lost, to_all));
                    Message::Ready { run }
                }
                Err(error) => Message::Refused { refusal: Refusal::Plan, why: error.to_string() },
            },
        };
        nats::send(&self.client, reply.to_string(), &response).await;
    }

    /// Starts the load of a run at a time.
    fn go(&mut self, run: &str, at_ns: u64) -> Message {
        let refused = |why: &str| Message::Refused { refusal: Refusal::Plan, why: why.into() };
        let Some(active) = self.active.as_mut().filter(|active| active.run == run) else {
            return refused("it has no plan of that run");
        };
        // A repeated message finds the load begun.
        let Some(plan) = active.plan.take() else { return Message::Ready { run: run.into() } };
        let (agent, sender) = (Arc::clone(&self.agent), self.events.0.clone());
        let begun = load::start(plan, (self.clock, at_ns), Arc::clone(&active.stop), agent, sender);
        match begun {
            Ok(()) => {
                active.loads = true;
                active.heard();
                Message::Ready { run: run.into() }
            }
            Err(error) => refused(&format!("the system refused a thread: {error}")),
        }
    }

    /// Takes what the load reports.
    async fn load_event(&mut self, event: LoadEvent) {
        let Some(active) = &mut self.active else { return };
        let subject = self.settings.fleet.of_agent(&active.run, self.settings.name.as_str());
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

    async fn resend(&self, run: &str, intervals: &[u64], entries: &[u64]) {
        let Some(active) = self.active.as_ref().filter(|active| active.run == run) else { return };
        let subject = self.settings.fleet.of_agent(run, self.settings.name.as_str());
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
                self.stop_run(Some(&run), "its coordinator stops it");
            }
            _ => {}
        }
    }

    /// Stops a run, or whatever run there is.
    fn stop_run(&mut self, run: Option<&str>, why: &str) {
        let Some(active) = self.active.as_ref().filter(|active| run.is_none_or(|run| active.run == run)) else {
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
        let subject = self.settings.fleet.of_agent(&active.run, self.settings.name.as_str());
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
                self.stop_run(Some(&run), "its coordinator is not heard of any more");
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
    match client.send_request(settings.fleet.name_of(settings.name.as_str()), request).await {
        Ok(_) => Err(FleetError::Usage(format!(
            "the fleet {} has an agent {} already: give another --name",
            settings.fleet, settings.name
        ))),
        // Without a response there is none, or one that has just been lost.
        Err(_) => Ok(()),
    }
}

/// Returns why one of these addresses may not be loaded.
fn not_allowed<'a>(allow: &AllowList, addresses: impl Iterator<Item = &'a Address>) -> Option<String> {
    let refused = allow.refused(addresses)?;
    let allowed = allow.shown().join(", ");
    Some(format!("it may not load {refused}, only {allowed} (--allow of 'torr fleet agent')"))
}

/// Makes an agent's part of a plan. May block.
fn make_plan(
    agent: &dyn Agent,
    settings: &AgentSettings,
    message: &PlanMessage,
    load: Load,
) -> Result<Plan, (Refusal, String)> {
    let plan = agent.plan(load).map_err(|why| (Refusal::Plan, why))?;
    if let Some(why) = not_allowed(&settings.allow, plan.all_addresses()) {
        return Err((Refusal::Target, why));
    }
    if plan.tunnel.is_some() || plan.further.iter().any(|server| server.tunnel.is_some()) {
        return Err((Refusal::Target, "it uses no proxy, behind which it could not know whom it loads".into()));
    }
    if let Some(learnt) = plan.users.as_ref().and_then(|users| users.learnt()) {
        let allow = settings.allow.clone();
        learnt.forbid(move |server| not_allowed(&allow, server.addresses.iter()));
    }
    if plan.length().is_none_or(|length| length > settings.longest) {
        let longest = humantime::format_duration(settings.longest);
        return Err((
            Refusal::Plan,
            format!("it carries out no plan longer than {longest} (--longest of 'torr fleet agent')"),
        ));
    }
    let is_sound = message.part > 0.0 && message.part <= 1.0 && (0.0..=1.0).contains(&message.phase);
    if !is_sound || message.connections == 0 || message.requests == Some(0) {
        return Err((Refusal::Plan, "its share is none".into()));
    }
    for address in plan.addresses.iter().filter_map(Address::tcp).take(1) {
        let unreachable = |error: std::io::Error| (Refusal::Unreachable, format!("it cannot reach {address}: {error}"));
        TcpStream::connect_timeout(&address, REACH).map_err(unreachable)?;
    }
    Ok(plan.shared(&torr_press::Share {
        part: message.part,
        connections: message.connections,
        requests: message.requests,
        phase: message.phase,
        users_before: message.users_before,
    }))
}
