//! What a probe tells, before anybody has understood it.

use std::time::Duration;

use watchtap::intake::{ConnectionInfo, Delivery, Intake, IntakeLimits, Notice, TapEvent};
use watchtap::tap::Clock;
use watchtap::tap::probe::{ProbeOptions, ProbeTap};

/// All that was told while something was done.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) events: Vec<TapEvent>,
    pub(crate) notices: Vec<Notice>,
}

impl Told {
    /// Of a probe that runs while `act` does.
    pub(crate) fn during(options: &ProbeOptions, act: impl FnOnce()) -> Self {
        let (intake, mut receiver) = Intake::new(IntakeLimits::default());
        let tap = ProbeTap::start(options, intake, Clock::start()).unwrap();
        act();
        let outcome = tap.finish();
        assert!(outcome.limits.is_empty(), "{outcome:?}");
        let mut told = Self::default();
        for delivered in receiver.drain(Duration::ZERO) {
            match delivered.delivery {
                Delivery::Connection(_, event) => told.events.push(event),
                Delivery::Notice(notice) => told.notices.push(notice),
                Delivery::Process(..) => panic!("a probe knows processes at once: {delivered:?}"),
            }
        }
        told
    }

    /// Files whose connections are not seen, and why.
    pub(crate) fn not_probed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.notices.iter().filter_map(|notice| {
            let Notice::NotProbed { file, why, .. } = notice else { return None };
            Some((file.as_str(), why.as_str()))
        })
    }

    /// The connections, in their order.
    pub(crate) fn opened(&self) -> Vec<ConnectionInfo> {
        let opened = self.events.iter().filter_map(|event| {
            let TapEvent::Opened { info, .. } = event else { return None };
            Some(info.clone())
        });
        opened.collect()
    }
}
