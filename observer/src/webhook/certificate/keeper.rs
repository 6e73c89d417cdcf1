//! Keeps the webhook's own authority, its `caBundle` and the leaf certificate up to date: carries out what [`Agreement`] decides.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep};

use super::PodAccess;
use super::agreement::{Agreement, Moment, NotDecided, Step};
use super::authority::Authority;
use super::failure::{Failure, Names};
use super::leaf::Leaf;
use super::pace::Pace;
use super::report::{Report, State};
use super::requests::{Change, Requests};
use super::served::Served;
use crate::backoff::{Backoff, chance, spread};
use crate::printable::print_message;

/// The work of one replica.
pub(super) struct Keeper {
    access: PodAccess,
    names: Arc<Names>,
    pace: Pace,
    agreement: Agreement,
    leaf: Leaf,
    report: Report,
    started: Instant,
}

impl Keeper {
    pub(super) fn new(access: PodAccess, names: Names, pace: Pace, served: Arc<Served>, report: Report) -> Self {
        let leaf = Leaf::new(&names.service, served);
        let agreement = Agreement::new(pace, Box::new(Authority::generate));
        Self { access, names: Arc::new(names), pace, agreement, leaf, report, started: Instant::now() }
    }

    /// Checks again and again, and never returns.
    pub(super) async fn keep(mut self) {
        let mut backoff = Backoff::new(self.pace.retry, self.pace.check);
        loop {
            let (checked, asked) = self.check().await;
            let pause = match &checked {
                Ok(()) => {
                    backoff.reset();
                    spread(self.pace.check, chance())
                }
                Err(_failure) => backoff.next(chance()).max(asked.unwrap_or_default()),
            };
            self.publish(checked);
            sleep(pause).await;
        }
    }

    /// One check. Returns how long the API server asked to wait, too.
    async fn check(&mut self) -> (Result<(), Failure>, Option<Duration>) {
        let mut requests = match Requests::open(&self.access, Arc::clone(&self.names)).await {
            Ok(requests) => requests,
            Err(failure) => return (Err(failure), None),
        };
        let mut step = self.agreement.begin(self.now());
        loop {
            step = match self.carry_out(step, &mut requests).await {
                Ok(Step::Rest) => return (Ok(()), None),
                Ok(next) => next,
                Err(failure) => return (Err(failure), requests.asked),
            };
        }
    }

    async fn carry_out(&mut self, step: Step, requests: &mut Requests) -> Result<Step, Failure> {
        let secret = self.names.secret_in_words();
        match &step {
            Step::ReadSecret => {
                let seen = requests.read_secret().await?;
                let decided = self.agreement.secret(seen, self.now());
                decided.map_err(|why| self.not_decided(&step, why))
            }
            Step::Create(authority) => match requests.write_secret(authority, None).await? {
                Change::Made => {
                    print_message(format!("{secret} was created, with the webhook's certificate authority"));
                    Ok(self.agreement.stored(authority.clone()))
                }
                Change::Conflict => self.conflict(&step),
            },
            Step::Replace { authority, at, because } => match requests.write_secret(authority, Some(at)).await? {
                Change::Made => {
                    print_message(format!("{secret} could not be used, so it has another certificate authority now: {because}"));
                    Ok(self.agreement.stored(authority.clone()))
                }
                Change::Conflict => self.conflict(&step),
            },
            Step::ReadConfiguration => {
                let Some(seen) = requests.read_configuration().await? else {
                    self.agreement.no_configuration(self.now());
                    return Err(Failure::NoConfiguration(self.names.configuration.clone()));
                };
                let decided = self.agreement.configuration(seen, self.now());
                decided.map_err(|why| self.not_decided(&step, why))
            }
            Step::WriteBundle { bundle, webhooks, at } => match requests.write_bundle(webhooks, bundle, at).await? {
                Change::Made => {
                    print_message(format!("the caBundle of {} was updated", self.names.configuration_in_words()));
                    Ok(self.agreement.written(bundle.clone(), self.now()))
                }
                Change::Conflict => self.conflict(&step),
            },
            Step::Rest => Ok(Step::Rest),
        }
    }

    fn conflict(&mut self, failed: &Step) -> Result<Step, Failure> {
        self.agreement.conflict(failed).map_err(|why| self.not_decided(failed, why))
    }

    fn not_decided(&self, at: &Step, why: NotDecided) -> Failure {
        match at {
            Step::ReadConfiguration | Step::WriteBundle { .. } => Failure::NotDecided(self.names.configuration_in_words(), why),
            Step::ReadSecret | Step::Create(_) | Step::Replace { .. } | Step::Rest => {
                Failure::NotDecided(self.names.secret_in_words(), why)
            }
        }
    }

    /// Issues a leaf if necessary, also while the API server is away, and publishes the state.
    fn publish(&mut self, checked: Result<(), Failure>) {
        let renewed = match self.agreement.serving() {
            Some(serving) => self.leaf.renew(serving, SystemTime::now()).map_err(Failure::from),
            None => Ok(()),
        };
        let problem = checked.and(renewed).err().map(|failure| failure.to_string());
        let expires = self.leaf.ends();
        self.report.publish(State { is_ready: expires.is_some() && self.agreement.is_accepted(self.now()), expires, problem });
    }

    fn now(&self) -> Moment {
        Moment { clock: SystemTime::now(), running: self.started.elapsed() }
    }
}
