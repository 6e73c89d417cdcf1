//! The losses in the report of a probe.

use serde_json::Value;

/// Counters that may grow although the observed clients are seen completely. A connection whose beginning the probe has not seen belongs to
/// an unknown server. Calls count for any client if they began before the probe was attached.
const OF_OTHERS: [&str; 3] = ["sockets", "unplaced", "calls"];
/// Losses of connections and of their decoding.
const OF_CONNECTIONS: [&str; 4] = ["bytes", "gaps", "malformed", "stopped_directions"];

/// Each loss with its number.
pub(crate) fn losses(report: &Value) -> Vec<String> {
    let missed = &report["missed"];
    let of_probe = missed["probe"].as_object().into_iter().flatten();
    let of_probe = of_probe.filter(|(name, _)| !OF_OTHERS.contains(&name.as_str())).map(|(name, number)| (name.as_str(), number));
    let of_connections = OF_CONNECTIONS.map(|name| (name, &missed[name])).into_iter().filter(|(_, number)| **number != 0);
    of_probe.chain(of_connections).map(|(name, number)| format!("{name}: {number}")).collect()
}
