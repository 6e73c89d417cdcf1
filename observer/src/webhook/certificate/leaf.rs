//! The leaf certificate of one replica, which it issues itself and keeps in memory.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use observer_pki::AuthorityError;
use rustls_pki_types::ServerName;

use super::ServiceName;
use super::authority::Authority;
use super::served::Served;

/// How long a leaf certificate is valid.
const LIFETIME: Duration = Duration::from_hours(30 * 24);
/// After this time it is replaced.
const RENEWAL_AGE: Duration = Duration::from_hours(20 * 24);
/// A clock that was set back by more than this makes a new leaf.
const MAX_SETBACK: Duration = Duration::from_hours(1);

/// The leaf certificate of a replica, in `Served`.
#[derive(Debug)]
pub(super) struct Leaf {
    names: Vec<ServerName<'static>>,
    served: Arc<Served>,
    issued: Option<Issued>,
}

#[derive(Debug)]
struct Issued {
    by: Authority,
    fresh: Range<SystemTime>,
    ends: SystemTime,
}

impl Leaf {
    /// None yet, for the names of this Service.
    pub(super) fn new(service: &ServiceName, served: Arc<Served>) -> Self {
        // In a namespace of digits alone, the shorter names are no DNS names for TLS.
        let names = names(service).into_iter().filter_map(|name| ServerName::try_from(name).ok());
        Self { names: names.collect(), served, issued: None }
    }

    /// The end of the current leaf.
    pub(super) fn ends(&self) -> Option<SystemTime> {
        self.issued.as_ref().map(|issued| issued.ends)
    }

    /// Issues a new leaf, unless there is one of this authority that is fresh.
    pub(super) fn renew(&mut self, by: &Authority, now: SystemTime) -> Result<(), AuthorityError> {
        if self.issued.as_ref().is_some_and(|issued| issued.by == *by && issued.fresh.contains(&now)) {
            return Ok(());
        }
        let identity = by.private().issue_server_for(&self.names, now, LIFETIME)?;
        self.served.replace(vec![identity.certificate], identity.key).map_err(AuthorityError::of)?;
        self.issued = Some(Issued { by: by.clone(), fresh: now - MAX_SETBACK..now + RENEWAL_AGE, ends: identity.valid.end });
        Ok(())
    }
}

/// The names by which the API server and others reach a Service. The API server uses the first one.
pub(super) fn names(service: &ServiceName) -> [String; 3] {
    let (name, namespace) = (service.name(), service.namespace());
    [format!("{name}.{namespace}.svc"), format!("{name}.{namespace}"), name.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn leaf_is_renewed_after_two_thirds_of_its_time_and_if_the_clock_or_the_authority_changes() {
        let now = SystemTime::now();
        let [one, other] = [(), ()].map(|()| Authority::generate(now).unwrap());
        let mut leaf = Leaf::new(&"watchtap.system".parse().unwrap(), Arc::default());
        assert_eq!(leaf.ends(), None);
        let mut ends_after = |by: &Authority, at: SystemTime| {
            leaf.renew(by, at).unwrap();
            leaf.ends().unwrap()
        };
        let first = ends_after(&one, now);
        assert_eq!(first, now + LIFETIME);
        for at in [now + HOUR, now - HOUR / 2, now + 20 * DAY - HOUR, now] {
            assert_eq!(ends_after(&one, at), first, "it is fresh");
        }
        assert_eq!(ends_after(&other, now + HOUR), now + HOUR + LIFETIME, "another authority");
        assert_eq!(ends_after(&other, now + 21 * DAY), now + 21 * DAY + LIFETIME, "two thirds are over");
        assert_eq!(ends_after(&other, now), now + LIFETIME, "the clock was set back");
    }

    #[test]
    fn leaf_has_the_names_of_its_service() {
        let names = |service: &str| {
            let leaf = Leaf::new(&service.parse().unwrap(), Arc::default());
            leaf.names.iter().map(|name| name.to_str().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names("watchtap.system"), ["watchtap.system.svc", "watchtap.system", "watchtap"]);
        assert_eq!(names("watchtap.123").first().unwrap(), "watchtap.123.svc");
    }
}
