//! A virtual user's walk through the entries of a session: what is to be sent next, and what a response leads to. No clock and
//! no socket: pauses and exchanges are the caller's.

use crate::error::EvaluationError;
use crate::expected::Unmet;
use crate::query::Received;
use crate::request::Outgoing;
use crate::scope::Variables;
use crate::session::{Entry, Session};
use cookie_store::CookieStore;
use std::time::Duration;
use torr_press::request::digest::Client;
use url::Origin;

/// What a virtual user does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Sends the walk's request, of the entry with this number.
    Send(usize),
    /// Waits.
    Pause(Duration),
    /// Has come to the end of the session.
    Finished,
    /// Gave up at the entry with this number.
    Failed(usize, EvaluationError),
}

/// What came of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The response met all expectations of its entry.
    Passed,
    /// The response was a redirect that the user follows, or a challenge that it meets.
    Redirected,
    /// The response did not meet some expectations; the user sends the request again.
    Retried(Vec<Unmet>),
    /// The response did not meet some expectations, and the session ends here.
    Failed(Vec<Unmet>),
}

/// Where a user is in an entry.
#[derive(Debug, Clone)]
enum State {
    /// Before the entry: its options are not evaluated yet.
    Entering,
    /// Before a request, after its pause.
    Ready,
    /// Before a request that follows a redirect or a challenge.
    Following(Outgoing),
    /// Before a retry, with its pause ahead.
    Waiting(Duration),
    /// A request is in flight.
    InFlight(Outgoing),
    /// The session failed.
    Over(EvaluationError),
}

/// A virtual user in a session.
#[derive(Debug, Clone)]
pub struct Walk {
    entry: usize,
    state: State,
    /// The requests sent again because of unmet expectations.
    retries: u64,
    /// The times that the entry has passed.
    passes: u64,
    /// The redirects followed in a row: status code and location.
    redirects: Vec<(u16, String)>,
    /// What is known of the challenges of servers.
    challenges: Vec<(Origin, Client)>,
    /// The latest request, if its response failed.
    failed: Option<Box<Outgoing>>,
    /// The user's variables.
    pub variables: Variables,
    /// The user's cookies.
    pub cookies: CookieStore,
}

impl Walk {
    /// Begins a session with these variables and no cookies.
    pub fn new(variables: Variables) -> Self {
        Self {
            entry: 0,
            state: State::Entering,
            retries: 0,
            passes: 0,
            redirects: Vec::new(),
            challenges: Vec::new(),
            failed: None,
            variables,
            cookies: CookieStore::default(),
        }
    }

    /// Returns the redirects that led to the request in flight: status codes and locations.
    pub fn redirects(&self) -> &[(u16, String)] {
        &self.redirects
    }

    /// Returns the request that is to be sent or in flight.
    pub fn request(&self) -> Option<&Outgoing> {
        if let State::InFlight(request) = &self.state { Some(request) } else { None }
    }

    /// Returns the latest request, if its response did not meet the expectations or had a status of 400 or more.
    pub fn failed_request(&self) -> Option<&Outgoing> {
        self.failed.as_deref()
    }

    /// Returns the number of the entry that the user is at.
    pub fn entry(&self) -> usize {
        self.entry
    }

    /// Returns what the user does next.
    pub fn next(&mut self, session: &Session) -> Action {
        loop {
            let Some(entry) = session.entries.get(self.entry) else { return Action::Finished };
            match std::mem::replace(&mut self.state, State::Ready) {
                State::Entering => match self.enter(entry) {
                    Ok(None) => self.leave(),
                    Ok(Some(delay)) if delay.is_zero() => {}
                    Ok(Some(delay)) => return Action::Pause(delay),
                    Err(error) => self.state = State::Over(error),
                },
                State::Ready => match entry.request.build(&entry.options, &self.variables, &self.cookies) {
                    Ok(request) => return self.send(request),
                    Err(error) => self.state = State::Over(error),
                },
                State::Following(request) => return self.send(request),
                State::Waiting(pause) => return Action::Pause(pause),
                State::InFlight(request) => {
                    self.state = State::InFlight(request);
                    return Action::Send(self.entry);
                }
                State::Over(error) => {
                    self.state = State::Over(error.clone());
                    return Action::Failed(self.entry, error);
                }
            }
        }
    }

    /// Takes the response to the request in flight.
    ///
    /// The walk fills in the URL and the redirects.
    pub fn receive(&mut self, session: &Session, received: Received<'_>) -> Judgement {
        let Some(entry) = session.entries.get(self.entry) else { return Judgement::Passed };
        let State::InFlight(request) = std::mem::replace(&mut self.state, State::Ready) else {
            return Judgement::Passed;
        };
        let has_failed = received.status >= 400;
        let judgement = self.judge(entry, &request, received);
        let is_unmet = matches!(judgement, Judgement::Retried(_) | Judgement::Failed(_));
        self.failed = (has_failed || is_unmet).then(|| Box::new(request));
        judgement
    }

    /// Judges the response to a request.
    fn judge(&mut self, entry: &Entry, request: &Outgoing, received: Received<'_>) -> Judgement {
        if !entry.options.no_cookie_store.get(&self.variables).unwrap_or(false) {
            for cookie in received.values("set-cookie") {
                // A cookie that RFC 6265 tells clients to ignore is ignored.
                let _ = self.cookies.parse(&cookie, &request.url);
            }
        }
        if let Some(client) = self.challenged(request) {
            let challenges: Vec<_> = received.values("www-authenticate").collect();
            let withheld = request.withholds_content;
            if client.sees(received.status, withheld, challenges.iter().map(|value| value.as_bytes())) {
                self.state = State::Following(request.clone());
                return Judgement::Redirected;
            }
        }
        match self.redirect(entry, request, &received) {
            Ok(Some(next)) => {
                self.state = State::Following(next);
                return Judgement::Redirected;
            }
            Ok(None) => {}
            Err(error) => return self.fail(entry, vec![unmet(entry, error)]),
        }
        let Some(expected) = &entry.expected else { return self.pass(entry) };
        let redirects = std::mem::take(&mut self.redirects);
        let received = Received {
            url: request.url.as_str(),
            redirects: redirects.iter().map(|(status, location)| (*status, location.as_str())).collect(),
            ..received
        };
        let unmet = expected.check(&received, &mut self.variables);
        if unmet.is_empty() { self.pass(entry) } else { self.fail(entry, unmet) }
    }

    /// Takes the failure of the request in flight, to which no response came. Returns whether the user sends it again.
    pub fn retries(&mut self, session: &Session) -> bool {
        let entry = session.entries.get(self.entry);
        entry.is_some_and(|entry| matches!(self.fail(entry, Vec::new()), Judgement::Retried(_)))
    }

    /// Evaluates the options of an entry; `None` skips the entry, otherwise the pause before the request is returned.
    fn enter(&mut self, entry: &Entry) -> Result<Option<Duration>, EvaluationError> {
        for (variable, operand) in &entry.options.definitions {
            let value = operand.get(&self.variables)?;
            self.variables.set(*variable, value);
        }
        if entry.options.skip.get(&self.variables)? {
            return Ok(None);
        }
        if entry.options.repeat.get(&self.variables)? == Some(0) {
            return Ok(None);
        }
        Ok(Some(entry.options.delay.get(&self.variables)?))
    }

    fn send(&mut self, mut request: Outgoing) -> Action {
        if let Some(client) = self.challenged(&request) {
            let content = request.content.clone().unwrap_or_default();
            let authorization = client.authorization(&request.method, &request.target(), &|| content.clone());
            request.withholds_content = !content.is_empty() && client.withholds_content();
            request.fields.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
            request.fields.extend(authorization.map(|value| ("Authorization".to_owned(), value)));
        }
        self.state = State::InFlight(request);
        Action::Send(self.entry)
    }

    /// Returns what is known of the challenges of a request's server; `None` for a request that meets none.
    fn challenged(&mut self, request: &Outgoing) -> Option<&mut Client> {
        let (credentials, origin) = (request.digest.as_ref()?, request.url.origin());
        let is_of = |(known, client): &(Origin, Client)| *known == origin && client.credentials() == credentials;
        let at = self.challenges.iter().position(is_of).unwrap_or_else(|| {
            self.challenges.push((origin.clone(), Client::new(credentials.clone())));
            self.challenges.len() - 1
        });
        Some(&mut self.challenges[at].1)
    }

    fn redirect(
        &mut self,
        entry: &Entry,
        request: &Outgoing,
        received: &Received<'_>,
    ) -> Result<Option<Outgoing>, EvaluationError> {
        let trusted = entry.options.location_trusted.get(&self.variables)?;
        let follows = trusted || entry.options.location.get(&self.variables)?;
        let is_redirect = (300..400).contains(&received.status);
        let location = received.values("location").next().filter(|_| follows && is_redirect);
        let Some(location) = location else { return Ok(None) };
        let limit = entry.options.max_redirects.get(&self.variables)?;
        if limit.is_some_and(|limit| self.redirects.len() as u64 >= limit) {
            return Err(EvaluationError(format!("more than {} redirects", self.redirects.len())));
        }
        let next = request.redirected(received.status, &location, &self.cookies, trusted)?;
        self.redirects.push((received.status, next.url.as_str().to_owned()));
        Ok(Some(next))
    }

    fn pass(&mut self, entry: &Entry) -> Judgement {
        self.passes += 1;
        self.redirects.clear();
        self.retries = 0;
        match entry.options.repeat.get(&self.variables) {
            Ok(Some(repeat)) if self.passes >= repeat.max(1) => self.leave(),
            Ok(_) => self.state = State::Entering,
            Err(error) => self.state = State::Over(error),
        }
        Judgement::Passed
    }

    fn fail(&mut self, entry: &Entry, unmet: Vec<Unmet>) -> Judgement {
        self.redirects.clear();
        let retry = entry.options.retry.get(&self.variables).unwrap_or(Some(0));
        if retry.is_none_or(|most| self.retries < most) {
            self.retries += 1;
            let interval = entry.options.retry_interval.get(&self.variables).unwrap_or_default();
            self.state = State::Waiting(interval);
            return Judgement::Retried(unmet);
        }
        self.state = State::Over(EvaluationError(format!("expectations not met at {}", entry.at)));
        Judgement::Failed(unmet)
    }

    fn leave(&mut self) {
        self.entry += 1;
        self.passes = 0;
        self.retries = 0;
        self.state = State::Entering;
    }
}

fn unmet(entry: &Entry, error: EvaluationError) -> Unmet {
    Unmet { at: entry.at, expected: "a redirect that can be followed".to_owned(), actual: error.0 }
}
