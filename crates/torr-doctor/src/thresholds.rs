//! All thresholds of the rules, active and passive.
//!
//! A share is 0 to 1, CPU is in cores, a ratio is a factor of throughput unless a unit is in the name. Most were chosen with the services
//! of the clinic, whose faults are known, as the widest gap between those that have a fault and those that look alike.

// Witnesses.
/// A thread that used so much of a CPU was full: the scheduler and sampling take the rest.
pub const FULL_THREAD: f64 = 0.85;
/// A request counts as cheap at this share of what the target takes.
pub const CHEAP: f64 = 0.6;
/// The share of its periods from which a quota holds a process back.
pub const THROTTLED: f64 = 0.15;
/// Nothing that requests hold, be it a thread, a lock or a connection, is limited below so many at a time.
pub const LEAST_HELD: f64 = 0.7;
/// Below this parallelism there is one at a time.
pub const ONE: f64 = 1.7;
/// Messages to a database for each request from which they are an ORM's doing, which loads rows one by one.
pub const MANY_TRIPS: f64 = 10.0;
/// Bytes from a database for each request from which it may be asked what becomes of them.
pub const MUCH_FETCHED: f64 = 2048.0;
/// The kernel sends a SYN again after a second (RFC 6298, section 2).
pub const SYN_TIMEOUT_US: u64 = 950_000;
/// The least share of a request's time that is taken for the service's own.
pub const LEAST_WORK: f64 = 0.15;
/// The share of the time without a CPU below which a server gets the CPU that it asks for.
pub const SERVED: f64 = 0.12;
/// CPU in cores of a thread that has a part in the work, and is no mere helper.
pub const WORKING_THREAD: f64 = 0.15;
/// The share of the time without a CPU from which a thread is starved.
pub const STARVED_THREAD: f64 = 0.3;
/// CPU in cores from which another program on the server's machine is named.
pub const WORTH_TELLING: f64 = 0.05;
/// The server's CPU as a share of the generator's from which it is the server's work that fills the machine they share.
pub const SERVERS_PART: f64 = 0.8;
/// How much longer a light load must take, as a share of the target's time of work, to be held up by the target's load.
pub const HELD_UP: f64 = 0.25;
/// The same share up to which a light load is not held up.
pub const NOT_HELD_UP: f64 = 0.12;
/// CPU in cores that a full thread uses at least, however long it waits for a CPU.
pub const FULL_THREAD_USES: f64 = 0.4;
/// The share of the time that a thread must spend on one kind of wait.
pub const MOSTLY_WAITS: f64 = 0.5;
/// Of so many requests a thread that has a part in them waits at least once.
pub const REQUESTS_PER_WAIT: f64 = 200.0;
/// The ratio of the server's CPU to its database's from which it is the server that computes.
pub const SERVER_COMPUTES: f64 = 2.0;
/// The ratio of bytes from the database to bytes to the client from which rows are fetched for little.
pub const FETCHED_FOR_LITTLE: f64 = 4.0;
/// Messages to a database for each request from which each request asks it.
pub const ASKED_BY_EACH: f64 = 0.5;
/// The share of the CPUs below which a server idles.
pub const IDLE_SERVER: f64 = 0.3;

// What the user allows.
/// The share of the highest rate that is allowed from which it is what limits.
pub const MAX_RATE_REACHED: f64 = 0.85;

// Acknowledgements.
/// Linux holds an acknowledgement back for 40 ms, and at most for 200.
pub const ACK_DELAYS_S: [(f64, f64); 2] = [(0.036, 0.052), (0.19, 0.215)];
/// The share of answers that must take as long as such a delay.
pub const ACK_DELAYED: f64 = 0.2;
/// Acknowledgements that were held back, for each answer, where answers take longer than that.
pub const ACKS_HELD_BACK: f64 = 0.5;
/// How many times as many answers acknowledging at once must bring.
pub const ACKED_FASTER: f64 = 1.2;
/// The ratio by which the share of delayed responses must fall once acknowledgements are sent at once.
pub const DELAYS_GONE: f64 = 4.0;
/// How far the median may fall beside a delay's bounds, as ratios of these.
pub const FELL_BY_DELAY: (f64, f64) = (0.8, 1.1);

// Experiments in turns.
/// Pairs of runs; as many as the difference needs to be told from noise.
pub const LEAST_PAIRS: usize = 5;
/// The most pairs of runs.
pub const MOST_PAIRS: usize = 7;
/// Where hardly any of the budget is left.
pub const FEW_PAIRS: usize = 3;
/// The half width of the interval, as a factor, below which more pairs would tell nothing new.
pub const NARROW_PAIRS: f64 = 1.1;

/// The ends of an interval are at most so far apart if it is to tell something.
pub const VAGUE: f64 = 1.5;

// Workers.
/// CPU in cores of a thread that does a worker's work.
pub const WORKED_BEFORE: f64 = 0.3;
/// What a thread wants of a CPU if it has far less to do than one that is full.
pub const IDLE_WORKER: f64 = 0.5;

// Keep-alive.
/// Connections per answer below which they are kept.
pub const KEPT_ALIVE: f64 = 0.5;

// The ladder of connections.
/// The part of the best throughput from which the service counts as saturated.
pub const SATURATED_FROM: f64 = 0.9;

/// The response time in seconds from which a warm-up would exclude nearly all requests.
pub const LONG_RESPONSE_S: f64 = 0.02;
/// Once throughput has not grown by more than this over two doublings, the ladder goes on with the user's connections.
pub const FLAT_LADDER: f64 = 1.08;
/// The share of the machine that others may use before the decisive experiment is made again.
pub const RUN_DISTURBED: f64 = 0.2;
/// The share of the connections that must have come about for a load to be the one that was meant.
pub const MOST_CONNECTED: f64 = 0.9;

// Gains.
/// The spread of throughput from run to run, as a factor, by which a computed interval is widened on either side.
pub const GAIN_SPREAD: f64 = 1.1;
/// The ratio of an interval's ends from which it promises nothing: an order of magnitude.
pub const WIDEST_GAIN: f64 = 10.0;
/// The factor of throughput from which the lower end of such an interval is worth a promise of its own.
pub const WORTH_PROMISING: f64 = 1.5;
/// The factor by which a service may exceed one that does nothing: ours parses and checks what simpler ones do not, and is measured for
/// half a second only. In a round of the clinic it reached 81,000 to 112,000 requests per second in a machine where cured subjects
/// reached 141,000 in a run of 3 s.
pub const NULL_EXCEEDED: f64 = 1.5;
/// The factor by which a response written in one piece may bring more than acknowledgements sent at once, which cost a system call each
/// and leave the server its second write. The clinic measured 1.2 to 1.4.
pub const ACKNOWLEDGED_COSTS: f64 = 1.6;
/// The CPU time of requests that a service answers without any work, which a request may cost more under a light load than under a
/// full one: wake-ups, and system calls that serve one request instead of many.
pub const LIGHT_LOAD_COST: f64 = 9.0;
/// The factor by which CPU time for each request may fall under a full load, where no service that does nothing was measured.
pub const CHEAPER_UNDER_LOAD: f64 = 2.0;
/// The share of what adding CPU, threads or processes brings in proportion that is promised at least.
pub const SCALES_AT_LEAST: f64 = 0.8;
/// CPU in cores from which the generator's share of the server's machine is told.
pub const GENERATOR_MATTERS: f64 = 0.05;
/// Workers for each CPU that are advised where they wait.
pub const WAITING_WORKERS: (f64, f64) = (4.0, 8.0);

// The hypervisor.
/// The share of the machine's CPU that the hypervisor may give to others before it is doubtful who was busy.
pub const STOLEN_DOUBTFUL: f64 = 0.1;

// Limiters that count addresses.
/// The ratio of requests accepted from two addresses from which a limiter counts each apart.
pub const SOURCES_APART: f64 = 1.6;
/// The ratio of requests accepted from two addresses up to which a limiter counts them together.
pub const SOURCES_TOGETHER: f64 = 1.25;

// Connecting.
/// Connections per answer from which they are not kept.
pub const NOT_KEPT: f64 = 0.15;
/// The share of connections that the server must have closed.
pub const CLOSED_BY_SERVER: f64 = 0.5;
/// The share of what a request takes from which connecting is what limits.
pub const CONNECTING_LIMITS: f64 = 0.1;
/// The same, from which there is no doubt: what a connection costs a service that does nothing is the least that it may cost.
pub const CONNECTING_CERTAIN: f64 = 0.25;
/// How many times apart an estimate and a measurement may be to stand beside each other.
pub const ESTIMATE_AGREES: f64 = 2.0;
/// The share of a single request's time from which TLS handshakes, and not connecting, limit.
pub const HANDSHAKES_LIMIT: f64 = 0.4;
/// The same, from which there is no doubt.
pub const HANDSHAKES_CERTAIN: f64 = 0.6;
/// The ratio that connections which are kept must bring where the user asks for one for each request.
pub const KEPT_BETTER: f64 = 1.2;
/// The ratio that a condition for keep-alive must bring.
pub const CONDITION_BETTER: f64 = 1.1;
/// The interval of the ratio within which it makes no difference to offer keep-alive.
pub const NO_DIFFERENCE: (f64, f64) = (0.7, 1.3);

// The ladder.
/// The share of the ladder's most throughput that every rung must have for a limiter to be certain. Runs of one load differ by up to 6% in
/// the simulation, and a rise by a third over two rungs was taken for none below this.
pub const SAME_THROUGHPUT: f64 = 0.8;
/// How many times the first rung's connections the last must have for a limiter to be certain.
pub const WIDE_LADDER: usize = 4;

// CPU.
/// The share of a machine's CPU from which the machine is full, for every rule: below it CPU is free. It lies between the four
/// numbers (0.85, 0.9, 0.93, 0.95) that rules had each for itself, and was not measured anew.
pub const MACHINE_FULL: f64 = 0.9;
/// The share of the CPUs from which a server has all of them.
pub const ALL_CPU: f64 = 0.93;
/// The share of the CPUs from which a server with as many full threads has nearly all of them.
pub const NEARLY_ALL_CPU: f64 = 0.85;
/// CPU that counts as one, if it is that of several threads which share it: what was wanted is at least the one, what was got at most
/// the other.
pub const ONE_CORE: (f64, f64) = (0.85, 1.15);
/// The share of the server's CPU that a thread must use to be the one that does the work: others only help it.
pub const MOSTLY_ONE_THREAD: f64 = 0.65;
/// The factor by which one query that does the work of many may bring less than a query that does its own.
pub const QUERY_VARIES: f64 = 3.0;
/// CPU in cores that a server uses of which one thread does all the work: at least the one on a full machine, at most the other.
pub const ONE_THREADS_SERVER: (f64, f64) = (0.9, 1.4);
/// The generator's share of the CPUs from which it takes from the server what it could use.
pub const GENERATOR_TAKES: f64 = 0.15;
/// The share of the throughput of a service that does nothing from which the server's own work is hardly seen.
pub const NEAR_NULL: f64 = 0.6;
/// The share of the target's time below which another request shows that it is the handler's work.
pub const HANDLERS_WORK: f64 = 0.5;
/// The ratio of the last rung's throughput to that of the user's load within which throughput is flat.
pub const FLAT: (f64, f64) = (0.6, 1.15);
/// The share of its connections on which a database has not answered from which it keeps its clients waiting.
pub const MOST_WAIT: f64 = 0.5;
/// The share of its quota that a throttled database uses.
pub const QUOTA_USED: f64 = 0.5;

// Acknowledgements under load.
/// The ratio that acknowledging at once must bring under the user's load for delayed acknowledgements to limit it.
pub const ACKS_BIND: f64 = 1.1;
/// The ratio from which delayed acknowledgements matter most under the user's load.
pub const ACKS_MATTER: f64 = 1.3;

// Other programs.
/// The share that others may use before experiments mean nothing.
pub const OTHERS_DISTURB: f64 = 0.25;
/// The share that the hypervisor may give to others.
pub const STOLEN_DISTURBS: f64 = 0.2;

// Failures.
/// An answer of so many bytes, head and body, is a packet: no smaller one would pass more easily.
pub const ONE_PACKET_BYTES: f64 = 1500.0;
/// Overflows of the accept queue from which they are no accident.
pub const OVERFLOWS: u64 = 10;
/// The share of failed requests from which a run is about its failures.
pub const MANY_FAILED: f64 = 0.01;
/// The share of connections that are late, or fail, from which an accept queue may be the reason.
pub const LATE_CONNECTS: f64 = 0.01;
/// The part of the most throughput below which a load is kept from what the service does.
pub const KEPT_FROM: f64 = 0.7;
/// The ratio by which the share of late connections must fall for a change to have been the reason.
pub const FEWER_LATE: f64 = 4.0;
/// The share of failures with a status at which a service responds so however gently it is asked.
pub const ALWAYS: f64 = 0.5;
/// The rate that is offered to a limiter, as a ratio to the accepted one.
pub const OFFERED: f64 = 1.5;
/// The share of refusals at an offered rate from which a limiter refuses.
pub const REFUSES: f64 = 0.1;
/// The ratio up to which twice the offered rate brings no more.
pub const ACCEPTS_NO_MORE: f64 = 1.25;
/// The share of the CPUs below which a server that refuses is not full.
pub const NOT_FULL: f64 = 0.8;
/// The ratio of failures under load to those of single requests up to which load is not the reason.
pub const FAILS_ALONE: f64 = 3.0;

// The generator.
/// The share of the time without a CPU from which the generator was kept from its work.
pub const GENERATOR_STARVED: f64 = 0.25;
/// A service that does nothing and reaches no more than this times the target shows what the generator can do.
pub const NULL_NO_BETTER: f64 = 1.25;
/// A service that does nothing and reaches less than this times the target was slower than it, and so was its own limit: throughput
/// varies by as much from run to run.
pub const NULL_AS_GOOD: f64 = 0.9;

// Links.
/// By how much connecting must be delayed for the link to be full: the kernel answers it, not the service.
pub const LINK_DELAY_S: f64 = 0.001;
/// The same, as a multiple of what it takes otherwise.
pub const LINK_DELAY: f64 = 9.0;
/// A link carries one thing at a time, so that no more requests than this can be said to be on it.
pub const ON_A_LINK: f64 = 1.5;
/// The ratio of the usual round-trip time to the least one from which packets wait on the way.
pub const RTT_GREW: f64 = 4.0;
/// The round-trip time in seconds below which an acknowledgement that waits for its response explains it.
pub const RTT_LONG_S: f64 = 0.06;
/// The ratio that responses without content must bring on a full link.
pub const SMALLER_BETTER: f64 = 1.3;
/// The offered rate at which a quota should not matter, as a share of the user's throughput.
pub const GENTLE: f64 = 0.4;
/// The ratio by which throttling must fall at that rate.
pub const RELIEVED: f64 = 2.0;
/// The share of the ladder's most throughput that every rung must have for throughput to be the same with any number of connections.
pub const EVEN: f64 = 0.6;
/// How many times the usual responses the first tenth of a second must bring after a pause, and how many responses more, to be a burst.
pub const BURST: (f64, f64) = (2.0, 3.0);

// Proxies.
/// The share of connections that must be kept between two looks, for them to be kept alive.
pub const UPSTREAM_KEPT: f64 = 0.6;
/// Answers directly for each through the proxy, from which the proxy is what limits.
pub const DIRECT_BETTER: f64 = 1.25;
/// CPU in cores from which somebody behind the server does the work rather than it, if the server does not use half as much.
pub const WORKS_BEHIND: f64 = 0.5;
/// The ratio of CPU from which what is behind a server, rather than the server, does the work.
pub const WORKS_MORE: f64 = 2.0;

// Throughput that grows.
/// The share of connections that must be at work rather than in a queue.
pub const ALL_AT_WORK: f64 = 0.7;
/// By what factor a doubling of connections must raise throughput to be one more piece of evidence.
pub const STILL_GROWS: f64 = 1.4;
/// The share of a request's time that makes it the network's.
pub const MOSTLY_NETWORK: f64 = 0.5;
/// The share of the time between the first byte and the last that makes an answer one that is held back while it is sent.
pub const PACED: f64 = 0.7;
/// The least share of a response's time that is left without the network.
pub const LEAST_REST: f64 = 0.02;
/// The share of a response's time from which what is left without the network can be told.
pub const UNSURE_REST: f64 = 0.1;
/// The share of a single request's time that the way may take for a pace to be the server's.
pub const HARDLY_NETWORK: f64 = 0.1;

// Requests that wait.
/// CPUs that are used for each request that goes on, from which it computes rather than waits.
pub const COMPUTES: f64 = 0.5;
/// Workers for each CPU that are many already, for work that waits.
pub const MANY_WAITING_WORKERS: f64 = 8.0;
/// The share of a pool's connections on which an answer must be waited for, for all of it to be in use.
pub const POOL_IN_USE: f64 = 0.8;
/// Threads that hold a request are as many as requests that go on: the least and the most of these, as a ratio, and threads beside.
pub const AS_MANY_THREADS: (f64, f64, f64) = (0.75, 1.35, 0.3);
/// Requests in the server's hands that are more than those that go on: a ratio, and requests beside.
pub const MORE_IN_HAND: (f64, f64) = (2.0, 2.0);
/// Requests in the server's hands that are no more than those that go on: a ratio, and requests beside.
pub const NO_MORE_IN_HAND: (f64, f64) = (1.4, 1.0);
/// The connections of a pool that are as many as requests that go on: the ratio that they may differ by, and connections beside.
pub const AS_MANY_CONNECTIONS: (f64, f64) = (0.25, 0.3);

// A single run.
/// The share of the machine's CPU below which server and generator were not kept from more by want of it.
pub const LITTLE_CPU: f64 = 0.5;
/// The share of connections that must be at work rather than wait.
pub const PASSIVE_AT_WORK: f64 = 0.5;
/// Connections per second from which opening them is a good part of what a CPU can do.
pub const MANY_CONNECTIONS_PER_S: f64 = 3000.0;
/// Connections that the server closes for each answer from which opening new ones costs more than the answers.
pub const OFTEN_CLOSED: f64 = 0.3;
/// A median within this factor of the least response time, plus the jitter of a wake-up, means that nothing queues.
pub const UNQUEUED: f64 = 2.0;
/// The jitter of a wake-up in microseconds.
pub const JITTER_US: f64 = 50.0;

/// The share of the connections that must have a request under way on average, for requests to wait for each other.
pub const MOST_IN_FLIGHT: f64 = 0.5;
/// The mean response time as a multiple of the least, from which requests wait.
pub const WAITED: f64 = 2.0;
/// The mean response time as a multiple of the least, from which a limiter may hold requests back.
pub const HELD_BACK: f64 = 10.0;
/// Connections per second from which they are a server's under load rather than other programs' on its machine.
pub const MANY_OPENED_PER_S: f64 = 200.0;
/// The database's share of the machine's CPU from which it does a good part of the work.
pub const DATABASE_WORKS: f64 = 0.25;
/// The share of the machine's CPU below which it has some to spare.
pub const SPARE_CPU: f64 = 0.8;
/// The share of a pool's connections on which an answer is waited for.
pub const PASSIVE_POOL_IN_USE: f64 = 0.6;
/// Requests that go on at a time below which a limiter may hold them back.
pub const HARDLY_ONE: f64 = 0.4;
/// Threads that hold a request are no more than those that go on: a ratio, and threads beside.
pub const PASSIVE_THREADS: (f64, f64) = (1.5, 0.5);
/// The share of the connections with a request in the server's hands below which the others have not been read.
pub const FEW_IN_HAND: f64 = 0.4;
/// The share of the generator's connections below which a pool is smaller than what is asked of it.
pub const SMALL_POOL: f64 = 0.5;

// Schedules that were kept.
/// The backlog at the end of a run as a multiple of the requests that were in flight on average. Little's law makes it 1 where the
/// backlog is steady, and 2 where it has grown from nothing throughout the run.
pub const BACKLOG_GREW: f64 = 1.6;
/// The backlog at the end of a run in stages as such a multiple. Stages may end at their highest rate, with more than the average in
/// flight.
pub const BACKLOG_GREW_IN_STAGES: f64 = 3.0;
/// Standard deviations of a random count that are no growth.
pub const BACKLOG_DEVIATIONS: f64 = 3.0;
/// Requests beyond that which may be in flight when a run ends, whatever its rate.
pub const FEW_IN_FLIGHT: f64 = 2.0;
/// The share of all requests that bounds a steady backlog, where response times show that it had grown for a while.
pub const BACKLOG_SHARE: f64 = 0.01;
/// The requests of so many seconds bound a steady backlog as well, however long the run.
pub const BACKLOG_S: f64 = 1.0;
/// The share of all requests that bounds a backlog however fast the others were answered: beyond it the service has stalled.
pub const STALLED: f64 = 0.05;
/// The requests of so many seconds, or of such a share of a shorter run, are no backlog: the machine paused, as it does while other
/// programs use its CPU.
pub const MACHINE_PAUSE: (f64, f64) = (0.2, 0.2);
/// The 90th percentile of response times as a share of the time by which responses are behind, from which a backlog has grown for a
/// while.
pub const BACKLOG_LATE: f64 = 0.25;
/// The share of `--max-rate` from which a closed loop ran at it.
pub const AT_THE_CAP: f64 = 0.95;
/// The share of the slots with a request in flight from which the connections, and not the cap, may have held a closed loop back.
pub const ALL_IN_USE: f64 = 0.95;

// The network in a single run.
/// A delayed acknowledgement takes 40 ms, and what it delays hardly more.
pub const PASSIVE_ACK_DELAY_US: std::ops::RangeInclusive<u64> = 38_000..=50_000;
/// The share of segments that were sent again from which a way loses packets.
pub const LOSSY: f64 = 0.001;
/// Bytes that must wait on a full link: two packets of Ethernet.
pub const LINK_QUEUE_BYTES: f64 = 3000.0;
/// The share of the time that TLS handshakes must take.
pub const MOSTLY_TLS: f64 = 0.3;
/// The round-trip time in microseconds above which a way may be long.
pub const LONG_WAY_US: u64 = 500;
/// The round-trip time in microseconds below which a delayed acknowledgement is told from the way.
pub const SHORT_WAY_US: u64 = 10_000;
/// The time in milliseconds that an acknowledgement adds which waits for its response.
pub const LATE_ACK_MS: f64 = 50.0;

// The procedure.
/// The share of the budget that a single request may take before it has failed.
pub const TIMEOUT_SHARE: f64 = 1.0 / 6.0;
/// The share of the budget after which no further rule is asked.
pub const LAST_RULE: f64 = 0.9;
/// The share of the budget after which fewer pairs must do.
pub const LITTLE_BUDGET: f64 = 0.6;
/// The share of the budget after which the fewest pairs must do, however they vary.
pub const NO_BUDGET: f64 = 0.8;
/// The share of its periods in which the generator's own quota throttles it.
pub const GENERATOR_THROTTLED: f64 = 0.2;
/// The ratio that another thread of the generator must bring.
pub const MORE_THREADS_BETTER: f64 = 1.05;
/// Connections that a proxy opens for each request, from which it keeps none.
pub const UPSTREAM_OPENS: f64 = 0.3;
/// The ratio of requests that two loads must have, for what differs between them to be put down to requests.
pub const LOADS_APART: f64 = 2.0;
