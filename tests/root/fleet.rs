//! Fleets between hosts of the test's own, whose links have a delay and losses.

use serde_json::Value;
use std::time::Duration;
use torr_test_support::metrics::Metrics;
use torr_test_support::nats::NatsServer;
use torr_test_support::network::{HUB, LinkOf, Network};
use torr_test_support::program::{Ended, Running, torr_command, torr_path};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::Serve;
use torr_test_support::supervised::Supervised;
use torr_test_support::wait_until;

/// A link that is much faster than a heartbeat.
const QUICK: LinkOf = LinkOf { delay: Duration::from_millis(1), lose_every: None };

/// What stands on the hub: NATS and the target, to which the hosts' agents come.
struct Hub {
    nats: NatsServer,
    target: Serve,
    reads: f64,
}

impl Hub {
    /// To be called on the hub.
    fn start() -> Self {
        let nats = NatsServer::start_on(HUB, "authorization { user: me, password: secret }");
        Self { nats, target: Serve::start_on(&format!("{HUB}:0"), &[]), reads: 0.0 }
    }

    fn nats_url(&self) -> String {
        format!("nats://me:secret@{}", self.nats.address())
    }

    /// The number of responses so far, those to this question excluded.
    fn responses(&mut self) -> u64 {
        let metrics = Metrics::parse(self.target.client().get("/metrics").text());
        let all = metrics.sum("torr_http_requests_total") - self.reads;
        self.reads += 1.0;
        all as u64
    }

    fn is_loaded(&mut self, responses: u64) {
        wait_until("the target to be loaded", || (self.responses() > responses).then_some(()));
    }

    /// Starts a run of so many agents with this load.
    fn run(&self, agents: usize, load: &[&str]) -> Running {
        let (nats, target, agents) = (self.nats_url(), self.target.url("/"), agents.to_string());
        let run = ["fleet", "run", "--nats", &nats, "--agents", &agents, "--", &target, "--json", "-"];
        Running::start(torr_command(&[&run[..], load].concat()))
    }
}

fn agents(network: &Network, hub: &Hub, hosts: usize) -> Vec<Supervised> {
    (0..hosts).map(|host| network.agent(host, &hub.nats_url())).collect()
}

fn result(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn rows(result: &Value) -> Vec<&Value> {
    result["fleet"]["agents"].as_array().expect("it is a list").iter().collect()
}

#[test]
fn agents_behind_slow_and_lossy_links_begin_together_and_count_what_the_target_counts() {
    let slow = LinkOf { delay: Duration::from_millis(20), lose_every: None };
    let lossy = LinkOf { delay: Duration::from_millis(60), lose_every: Some(100) };
    let Some(network) = Network::start("links", &[QUICK, slow, lossy]) else { return };
    network.on_hub(|| {
        let mut hub = Hub::start();
        let nats = hub.nats_url();
        let _agents = [network.agent(0, &nats), network.agent(1, &nats), far_in_time(&network, 2, &nats)];
        let ended = hub.run(3, &["-r", "300", "-d", "6s", "-c", "90"]).wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let result = result(&ended);
        adds_up(&result);
        assert!((1700..=1800).contains(&count(&result, "/asked")), "{result:#}");
        let (responses, unfinished) = (count(&result, "/requests"), count(&result, "/unfinished"));
        assert!((responses..=responses + unfinished).contains(&hub.responses()), "{result:#}");
        // No response comes before the delay of its link both ways, and those of the slowest link are a third of all.
        let latency = |name: &str| count(&result, &format!("/latency_us/{name}"));
        assert!((2_000..40_000).contains(&latency("min")) && latency("p75") >= 120_000, "{result:#}");
        let rows = rows(&result);
        assert_eq!(rows.len(), 3, "{result:#}");
        for (row, delay_us) in rows.iter().zip([1_000, 20_000, 60_000]) {
            // The error of a clock is at most half of a round trip; how far off the clock really was is less.
            let error = count(row, "/clock_error_us");
            assert!((delay_us..delay_us + 20_000).contains(&error), "{row:#}");
            let began = row["began_us"].as_i64().unwrap_or_else(|| panic!("{row:#}"));
            assert!(began.unsigned_abs() <= 20_000 && row["state"] == "ended", "{row:#}");
        }
    });
}

/// An agent on a host where the monotonic clock is 1,000 s ahead.
fn far_in_time(network: &Network, host: usize, nats: &str) -> Supervised {
    let (time, agent) =
        (["--time", "--monotonic", "1000", "--boottime", "1000", torr_path()], Network::agent_words(host, nats));
    let words: Vec<_> = time.into_iter().chain(agent.iter().map(String::as_str)).collect();
    network.agent_by(host, "unshare", &words)
}

#[test]
fn an_agent_that_is_cut_off_for_a_heartbeat_costs_nothing() {
    let Some(network) = Network::start("back", &[QUICK, QUICK]) else { return };
    network.on_hub(|| {
        let mut hub = Hub::start();
        let _agents = agents(&network, &hub, 2);
        let run = hub.run(2, &["-r", "200", "-d", "8s"]);
        hub.is_loaded(300);
        network.link(1).cut();
        // What is cut is on its way again within two retransmissions.
        std::thread::sleep(Duration::from_secs(1));
        network.link(1).mend();
        let ended = run.wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let result = result(&ended);
        adds_up(&result);
        assert!(result["fleet"]["cut"].is_null(), "{result:#}");
        assert!((1500..=1600).contains(&count(&result, "/asked")), "{result:#}");
        let (responses, unfinished) = (count(&result, "/requests"), count(&result, "/unfinished"));
        assert!((responses..=responses + unfinished).contains(&hub.responses()), "{result:#}");
        assert!(rows(&result).iter().all(|row| row["state"] == "ended"), "{result:#}");
    });
}

#[test]
fn an_agent_that_is_cut_off_for_good_cuts_the_result_and_stops_by_itself() {
    let Some(network) = Network::start("gone", &[QUICK, QUICK]) else { return };
    network.on_hub(|| {
        let mut hub = Hub::start();
        let agents = agents(&network, &hub, 2);
        let run = hub.run(2, &["-r", "200", "-d", "10m"]);
        hub.is_loaded(500);
        network.link(1).cut();
        agents[1].says("stopped, as the coordinator sends no more heartbeats");
        network.link(1).mend();
        // The other one is not held up by it.
        let before = hub.responses();
        hub.is_loaded(before + 100);
        run.signal("INT");
        let ended = run.wait();
        assert_eq!(ended.code, Some(130), "{ended:?}");
        let result = result(&ended);
        adds_up(&result);
        let at_s = result["fleet"]["cut"]["at_s"].as_f64().unwrap_or_else(|| panic!("{result:#}"));
        assert!(at_s >= 1.0 && result["duration_s"].as_f64() == Some(at_s), "{result:#}");
        let states: Vec<_> = rows(&result).iter().map(|row| row["state"].as_str()).collect();
        assert_eq!(states, [Some("stopped"), Some("lost")], "{result:#}");
        assert!(ended.stderr.contains("agent host1 was lost"), "{ended:?}");
        let counted = count(&result, "/requests") + count(&result, "/fleet/cut/requests_after");
        assert!(counted <= hub.responses(), "{result:#}");
        // Both are free again.
        let next = hub.run(2, &["-r", "100", "-n", "100", "-d", "20s"]).wait();
        assert_eq!(next.code, Some(0), "{next:?}");
    });
}
