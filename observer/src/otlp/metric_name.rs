//! Names and units of metrics by OTLP.
//!
//! They are chosen so that the usual translation gives the names for Prometheus: it replaces dots by underscores, appends the unit
//! and then `_total` to counters (open-telemetry/opentelemetry-specification `specification/compatibility/prometheus_and_openmetrics.md`,
//! v1.60; prometheus/otlptranslator `metric_namer.go`, v1.0). It drops a unit in braces, and appends `_ratio` to gauges of unit `1`.

use observer_core::series::{FAMILIES, Family, FamilyRow, Unit};

/// The name of a family: that of Prometheus with dots, without unit and `_total`.
pub(super) fn name(row: &FamilyRow) -> String {
    let (own, full) = (without_unit(row), without_total(row));
    // One name must not have two units. The translation appends no unit that the name has already.
    let is_taken = FAMILIES.iter().any(|other| other.family != row.family && without_unit(other) == own);
    let name = if is_taken { full } else { own };
    name.replace('_', ".")
}

/// The unit of a family in UCUM. Counts have the counted thing in braces.
pub(super) const fn unit(row: &FamilyRow, of_family: Unit) -> &'static str {
    match of_family {
        Unit::Bytes => "By",
        Unit::Seconds => "s",
        Unit::One => counted(row.family),
    }
}

fn without_total(row: &FamilyRow) -> &'static str {
    row.name.strip_suffix("_total").unwrap_or(row.name)
}

fn without_unit(row: &FamilyRow) -> &'static str {
    let name = without_total(row);
    let suffix = match row.unit() {
        Unit::Bytes => "_bytes",
        Unit::Seconds => "_seconds",
        Unit::One => "",
    };
    name.strip_suffix(suffix).unwrap_or(name)
}

/// The thing of which a family is the number.
const fn counted(family: Family) -> &'static str {
    match family {
        Family::Requests | Family::RequestsInFlight | Family::ProbeSliceRequests => "{request}",
        Family::ListItems | Family::RelistItems | Family::RelistRepeatedItems | Family::StormItems | Family::StormRepeatedItems => {
            "{item}"
        }
        Family::Verdicts => "{verdict}",
        Family::WatchesOpen | Family::Watches | Family::Resumes => "{watch}",
        Family::WatchEvents => "{event}",
        Family::Reflectors | Family::ReflectorFindings | Family::StormMembers | Family::ExposureReflectors => "{reflector}",
        Family::ReflectorObjects | Family::ExposureItems => "{object}",
        Family::ReflectorBehind => "{revision}",
        Family::InitialLists | Family::StreamingListFallbacks | Family::RevisionsWentBack => "{list}",
        Family::Relists | Family::StormRelists => "{relist}",
        Family::Stalls => "{stall}",
        Family::Storms | Family::StormsActive => "{storm}",
        Family::Findings => "{finding}",
        Family::UpstreamInfo | Family::UpstreamRefusing => "{server}",
        Family::ConnectionsOpen
        | Family::Connections
        | Family::ConnectFailures
        | Family::ResetsInsteadOfRefused
        | Family::ProbeLostConnections => "{connection}",
        Family::GoAways => "{frame}",
        Family::Missed => "{loss}",
        Family::UnreadBodies => "{body}",
        Family::ProbeLostRecords => "{record}",
        Family::ProbeLostCalls => "{call}",
        Family::ProbeFiles => "{file}",
        Family::ProbeAddresses => "{address}",
        Family::LabelSetsFolded => "{label_set}",
        Family::BuildInfo => "{process}",
        Family::ProcessOpenFiles | Family::ProcessMostFiles => "{descriptor}",
        Family::FamiliesLeftOut => "{metric}",
        Family::RequestDuration
        | Family::FirstByte
        | Family::RequestBytes
        | Family::ResponseBytes
        | Family::WatchDuration
        | Family::ReflectorStateSince
        | Family::ReflectorLastBookmark
        | Family::RelistBytes
        | Family::RelistDuration
        | Family::StallSeconds
        | Family::WritePropagation
        | Family::StormBytes
        | Family::ExposureBytes
        | Family::ForwardedBytes
        | Family::ObservedBytes
        | Family::MissedBytes
        | Family::ProbeLostBytes
        | Family::ObservingQueueBytes
        | Family::ProcessCpu
        | Family::ProcessStart
        | Family::ProcessResidentMemory
        | Family::ProcessVirtualMemory => "",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use observer_core::series::Kind;

    use super::*;

    #[test]
    fn translation_gives_the_names_for_prometheus() {
        for row in FAMILIES {
            let (name, unit) = (name(row), unit(row, row.unit()));
            assert!(!unit.is_empty(), "{}", row.name);
            assert_eq!(translated(&name, unit, row.kind), row.name, "{name} in {unit}");
        }
    }

    #[test]
    fn each_family_has_a_name_of_its_own() {
        let names: BTreeSet<String> = FAMILIES.iter().map(name).collect();
        assert_eq!(names.len(), FAMILIES.len());
        let of = |family: Family| name(&FAMILIES[family as usize]);
        assert_eq!(of(Family::RequestDuration), "watchtap.request.duration");
        assert_eq!(of(Family::Relists), "watchtap.relists");
        assert_eq!([of(Family::Missed), of(Family::MissedBytes)], ["watchtap.missed", "watchtap.missed.bytes"]);
    }

    #[test]
    fn labels_are_not_translated() {
        let names = observer_core::series::LABELS.iter().flat_map(|row| row.names);
        for name in names {
            let is_kept = name.bytes().enumerate().all(|(at, byte)| byte == b'_' && at > 0 || byte.is_ascii_lowercase());
            assert!(is_kept && !["job", "instance", "le"].contains(name) && !name.contains("__"), "{name}");
        }
    }

    /// The rules of the specification, and of `otlptranslator` where it is less definite.
    fn translated(name: &str, unit: &str, kind: Kind) -> String {
        let mut tokens: Vec<&str> = name
            .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == ':'))
            .filter(|token| !token.is_empty())
            .collect();
        let suffix = match unit {
            "s" => "seconds",
            "By" => "bytes",
            unit if unit.starts_with('{') && unit.ends_with('}') => "",
            other => panic!("{other} has other rules"),
        };
        if !suffix.is_empty() && !tokens.contains(&suffix) {
            tokens.push(suffix);
        }
        if kind == Kind::Counter {
            tokens.retain(|token| *token != "total");
            tokens.push("total");
        }
        tokens.join("_")
    }
}
