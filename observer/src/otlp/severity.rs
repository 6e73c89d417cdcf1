//! Which events need attention.

use observer_core::observation::ListenerState;
use observer_core::observer::Event;
use opentelemetry_proto::tonic::logs::v1::SeverityNumber;

/// `WARN` for troubles that begin, for verdicts that were wrong, and for everything that was not observed; otherwise `INFO`.
pub(super) fn severity(event: &Event) -> (SeverityNumber, &'static str) {
    if needs_attention(event) { (SeverityNumber::Warn, "WARN") } else { (SeverityNumber::Info, "INFO") }
}

fn needs_attention(event: &Event) -> bool {
    match event {
        Event::Stuck { .. }
        | Event::Stalled { .. }
        | Event::TroubleBegan { .. }
        | Event::StormBegan { .. }
        | Event::Contradicted { .. }
        | Event::Missed { .. }
        | Event::Malformed { .. }
        | Event::DecodingStopped { .. }
        | Event::DecoderFailed { .. }
        | Event::Listener { state: ListenerState::Refusing, .. }
        | Event::ConnectFailed { .. }
        | Event::NotProbed { .. }
        | Event::CaptureEnded { .. }
        | Event::Unrecorded { .. } => true,
        Event::Profile { .. }
        | Event::ConnectionOpened { .. }
        | Event::ConnectionClosed { .. }
        | Event::GoAway { .. }
        | Event::Request { .. }
        | Event::WatchOpened { .. }
        | Event::WatchEnded { .. }
        | Event::InitialList { .. }
        | Event::RelistBegan { .. }
        | Event::Relist { .. }
        | Event::Resume { .. }
        | Event::StallEnded { .. }
        | Event::TroubleEnded { .. }
        | Event::StormEnded { .. }
        | Event::Upgraded { .. }
        | Event::Listener { state: ListenerState::Listening, .. }
        | Event::Fault { .. } => false,
    }
}
