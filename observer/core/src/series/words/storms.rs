//! The words of labels of storms, and of the cost of a restart.

use super::word::words;
use crate::storm::{StormKind, Trigger};

words! {
    /// The event that set off a storm.
    TriggerWord {
        /// The API server refused connections, or its caches were reset.
        ApiServerRestart = "api-server-restart",
        /// The revisions to watch from were gone.
        MassExpiry = "mass-expiry",
        /// Connections broke.
        Network = "network",
        /// The server refused watches or lists.
        ServerErrors = "server-errors",
        /// No trigger has a majority.
        Unknown = "unknown",
    }
}

words! {
    /// Whether one client or several take part in a storm.
    StormKindWord {
        /// One.
        Client = "client",
        /// Several.
        Clients = "clients",
    }
}

words! {
    /// Whether a reflector would relist if the API server restarted.
    ExposureWord {
        /// It would.
        Certain = "certain",
        /// If something was written that was not seen here.
        Perhaps = "perhaps",
    }
}

impl TriggerWord {
    pub(crate) const fn of(trigger: Trigger) -> Self {
        match trigger {
            Trigger::ApiServerRestart => Self::ApiServerRestart,
            Trigger::MassExpiry => Self::MassExpiry,
            Trigger::Network => Self::Network,
            Trigger::ServerErrors => Self::ServerErrors,
            Trigger::Unknown => Self::Unknown,
        }
    }
}

impl StormKindWord {
    pub(crate) const fn of(kind: StormKind) -> Self {
        match kind {
            StormKind::Client => Self::Client,
            StormKind::Clients => Self::Clients,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_triggers_and_kinds_are_those_of_the_report() {
        for trigger in [Trigger::ApiServerRestart, Trigger::MassExpiry, Trigger::Network, Trigger::ServerErrors, Trigger::Unknown] {
            assert_eq!(TriggerWord::WORDS[TriggerWord::of(trigger) as usize], trigger.to_string());
        }
        for kind in [StormKind::Client, StormKind::Clients] {
            assert_eq!(serde_json::to_value(kind).unwrap(), StormKindWord::WORDS[StormKindWord::of(kind) as usize]);
        }
    }
}
