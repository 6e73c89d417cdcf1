//! A reflector: its identity, its history, the cause and the cost of its last relist, and the change to make.

use observer_core::observer::{Finding, Snapshot};
use observer_core::reflector::{
    ClientAge, PollingKind, ReflectorRow, RelistCause, Representation, SilenceProof, Trouble, cause_label,
};

use super::container::container;
use super::{finding, moments, relist};
use crate::view::client::{ClientPods, program};
use crate::view::colour::Tone;
use crate::view::following;
use crate::view::page::clients::{place, row_of, user};
use crate::view::page::sheet::Sheet;
use crate::view::quantity::{bytes, count, counted, counted_as, microseconds};
use crate::view::report::state_tone;

pub(super) fn write(row: &ReflectorRow, snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    let what = if row.has_watched() { "reflector" } else { "client that only lists" };
    let client = ClientPods::of(snapshot).client(row.client_id, &row.client);
    sheet.title(&format!("{what} {} · {}", row.reflector, following::subject_of(&client, &row.shape)));
    who(row, snapshot, sheet);
    state(row, snapshot, sheet);
    found(row, snapshot, sheet);
    time_line(row, sheet);
    if let Some(list) = &row.last_relist {
        relist::write(list, sheet);
    }
    cost(row, sheet);
    advice(row, snapshot, sheet);
}

fn who(row: &ReflectorRow, snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    sheet.fact(
        "client",
        Tone::Plain,
        &format!("{} ({}), client {}", program(&row.client), user(row.client.identity.as_ref()), row.client_id),
    );
    if let Some(command) = &row.client.kubectl_command {
        sheet.fact("command", Tone::Plain, command);
    }
    let (label, place) = place(row_of(snapshot, row.client_id), row.process.as_ref());
    sheet.fact(label, Tone::Plain, &place);
    container(row.process.as_ref(), sheet);
    sheet.fact("requests", Tone::Plain, &format!("{}: {}", row.shape, representation(row.representation)));
    sheet.fact("client-go", Tone::Plain, &release(row));
}

const fn representation(representation: Representation) -> &'static str {
    match representation {
        Representation::Object => "full objects",
        Representation::Metadata => "their metadata",
        Representation::Table => "Table (kubectl columns)",
    }
}

/// The inferred release, and the evidence.
fn release(row: &ReflectorRow) -> String {
    let (release, because) = match row.age {
        _ if row.causes.contains_key(&RelistCause::RefusedMisread.id()) => ("before 1.16", "it listed after refused connections"),
        None => return "release unknown: not enough requests yet to infer it".to_owned(),
        Some(ClientAge::Until1_17) => ("before 1.18", "it relisted at resourceVersion=0 with a limit"),
        Some(ClientAge::From1_18) => ("1.18 or later", "it relisted at its own resource version without a limit"),
        Some(ClientAge::WatchList) => ("1.35 or later, or 1.27 or later with WatchListClient", "it requests streaming lists"),
    };
    format!("{release}, inferred from its requests: {because} (other libraries may do the same)")
}

fn state(row: &ReflectorRow, snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    let since = following::age(row.since, snapshot.at);
    let text = if since == "now" { following::state(row).to_owned() } else { format!("{} for {since}", following::state(row)) };
    sheet.fact("state", state_tone(row.state), &text);
    sheet.fact("revision", Tone::Plain, &revision(row));
    let bookmark = row.last_bookmark.map(|at| format!("{} ago", following::age(at, snapshot.at)).replace("now ago", "now"));
    if let Some(bookmark) = bookmark {
        let every = row.bookmark_every_us.map_or_else(String::new, |every| format!(", one every {}", microseconds(every)));
        sheet.fact("last bookmark", Tone::Plain, &format!("{bookmark}{every}"));
    }
    if let Some(at) = row.last_event {
        let age = following::age(at, snapshot.at);
        let age = if age == "now" { age } else { format!("{age} ago") };
        sheet.fact("last event", Tone::Plain, &format!("{age}, {}/s recently", row.events_per_second));
    }
    if let Some(by) = row.stalled_by {
        sheet.fact("does not read", Tone::Bad, &format!("the API server waits for the {by}"));
    }
    if row.stalls > 0 {
        let stalls = [
            format!("{} in total", microseconds(row.stalled_us)),
            format!("{} before", counted(row.stalls, "time")),
            format!("{} ended early by the server", counted_as(row.ended_stalled, "watch", "watches")),
        ];
        sheet.fact("did not read", Tone::Notable, &stalls.join(" · "));
    }
    if row.closed_by_force > 0 {
        sheet.fact("closed by force", Tone::Bad, &counted_as(row.closed_by_force, "watch", "watches"));
    }
    if let Some(end) = row.last_end {
        sheet.fact("last watch", Tone::Plain, &end.in_words());
    }
    if let Some(polling) = &row.polling {
        let tone = if polling.kind == PollingKind::Wait { Tone::Plain } else { Tone::Notable };
        sheet.fact("polling", tone, &following::polling(polling));
    }
}

/// The cause of the last relist and the change to make, above the long timeline. The evidence is below.
fn found(row: &ReflectorRow, snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    if let Some(cause) = row.last_relist.as_ref().and_then(|relist| relist.cause) {
        sheet.fact("relisted", Tone::Notable, &cause.sentence());
    }
    for finding in findings_of(row, snapshot) {
        sheet.fact("finding", Tone::Notable, finding.kind.as_str());
        sheet.fact("advice", Tone::Plain, finding.advice);
    }
}

fn findings_of<'s>(row: &ReflectorRow, snapshot: &'s Snapshot) -> impl Iterator<Item = &'s Finding> {
    let id = row.reflector;
    snapshot.findings.iter().filter(move |finding| finding.reflectors.contains(&id))
}

fn revision(row: &ReflectorRow) -> String {
    let behind = |behind: Option<u64>, what: &str| behind.map(|behind| format!("{} behind the newest {what}", count(behind)));
    let revision = row.resource_version.map_or_else(|| "none yet".to_owned(), |revision| revision.to_string());
    if let Some(current) = ahead_of(row) {
        return format!("{revision}, ahead of the API server, which is at {current}");
    }
    let behind = [behind(row.behind, "observed of its resource"), behind(row.behind_store, "observed in its etcd")];
    [revision].into_iter().chain(behind.into_iter().flatten()).collect::<Vec<_>>().join(", ")
}

/// The current revision of the API server, if it has not reached the revision of `row`.
fn ahead_of(row: &ReflectorRow) -> Option<u64> {
    let waits = row.spells.get(&Trouble::WatchAhead).is_some_and(|spell| spell.lasts());
    match row.evidence.ahead.filter(|_| waits).map(|silence| silence.because) {
        Some(SilenceProof::Ahead { current, .. }) => Some(current),
        Some(SilenceProof::Deaf { .. }) | None => row.server_revision,
    }
}

/// The signs of the timeline.
const SIGNS: &[&str] = &[
    "L list",
    "R last relist",
    "w watch",
    "b bookmarks",
    "· events",
    "x end or refusal",
    "z client does not read",
    "? not observed",
];

fn time_line(row: &ReflectorRow, sheet: &mut Sheet<'_>) {
    sheet.section_with_signs("TIMELINE", SIGNS);
    if row.timeline_dropped > 0 {
        sheet.print(Tone::Quiet, &format!("{} not kept", counted_as(row.timeline_dropped, "earlier entry", "earlier entries")));
    }
    if row.timeline.is_empty() {
        sheet.print(Tone::Quiet, "nothing observed yet");
    }
    moments::write(&row.timeline, row.last_relist.as_ref().map(|list| list.at), sheet);
}

fn cost(row: &ReflectorRow, sheet: &mut Sheet<'_>) {
    sheet.section("COST AND WASTE");
    let lists = [
        counted(row.list_requests, "request"),
        counted(row.items, "object"),
        format!("{} in the last complete list", bytes(row.last_list_bytes)),
        counted(row.relists, "relist"),
    ];
    sheet.fact("lists", Tone::Plain, &lists.join(" · "));
    let watches = [
        counted(row.watch_requests, "request"),
        counted(row.events, "event"),
        counted(row.bookmarks, "bookmark"),
        counted(row.resumes, "resume"),
    ];
    sheet.fact("watches", Tone::Plain, &watches.join(" · "));
    sheet.fact("answers", Tone::Plain, &bytes(row.bytes));
    let unchanged = format!(
        "{} of {} received: the client already had this version",
        following::unchanged(row.repeats),
        counted(row.repeats.objects, "object")
    );
    sheet.fact("unchanged", Tone::Plain, &unchanged);
    sheet.fact("objects", Tone::Plain, &format!("{} in the client's store now", count(row.objects)));
    for (cause, number) in &row.causes {
        sheet.fact("relists", Tone::Notable, &format!("{} × {} ({cause})", count(*number), cause_label(cause)));
    }
}

fn advice(row: &ReflectorRow, snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    let about_it: Vec<&Finding> = findings_of(row, snapshot).collect();
    sheet.section("FINDINGS");
    if about_it.is_empty() {
        sheet.print(Tone::Quiet, "nothing to change");
    }
    for one in about_it {
        finding::sentences(one, sheet);
    }
}
