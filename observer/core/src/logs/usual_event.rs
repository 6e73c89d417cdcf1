//! Reads an audit event in its usual form, without a general parser, and without values for members that are not used.

use std::borrow::Cow;

use super::audit::{Annotations, AuditLevel, AuditStage, Details, Line, ObjectRef, ResponseStatus, User};
use super::cursor::Cursor;
use super::text::{FirstText, Text};

/// Reads an event. `None` for text of any other form, of which `serde_json` decides whether it is an event: members that occur twice, values
/// of an unusual type, escapes in names. A malformed body does not matter.
pub(super) fn read(text: &[u8]) -> Option<Line<'_>> {
    let mut cursor = Cursor::of(text);
    let (mut audit_id, mut stage, mut verb, mut level, mut uri, mut user_agent) = (None, None, None, None, None, None);
    let (mut user, mut impersonated_user, mut addresses, mut object_ref, mut response_status) = (None, None, None, None, None);
    let (mut received, mut reached, mut annotations) = (None, None, None);
    cursor.members(|name, value| match name {
        b"auditID" => once(&mut audit_id, value.text()),
        b"stage" => once(&mut stage, self::stage(value)),
        b"verb" => once(&mut verb, value.text()),
        b"level" => once(&mut level, self::level(value)),
        b"requestURI" => once(&mut uri, value.text()),
        b"user" => once(&mut user, self::user(value)),
        b"impersonatedUser" => once(&mut impersonated_user, self::user(value)),
        b"sourceIPs" => once(&mut addresses, first_text(value)),
        b"userAgent" => once(&mut user_agent, value.text()),
        b"objectRef" => once(&mut object_ref, self::object_ref(value)),
        b"responseStatus" => once(&mut response_status, self::response_status(value)),
        b"requestReceivedTimestamp" => once(&mut received, self::text(value)),
        b"stageTimestamp" => once(&mut reached, self::text(value)),
        b"annotations" => once(&mut annotations, self::annotations(value)),
        b"requestObject" | b"responseObject" => value.body(),
        _other => value.value(),
    })?;
    let is_complete = cursor.is_at_end();
    is_complete.then_some(())?;
    Some(Line {
        audit_id: audit_id?,
        stage: stage?,
        verb: verb?,
        level: level.unwrap_or_default(),
        uri: uri.unwrap_or_default(),
        user: user.unwrap_or_default(),
        impersonated_user,
        addresses: addresses.unwrap_or_default(),
        user_agent: user_agent.unwrap_or_default(),
        object_ref,
        response_status,
        request_received_timestamp: received.unwrap_or_default(),
        stage_timestamp: reached.unwrap_or_default(),
        annotations: annotations.unwrap_or_default(),
    })
}

/// Notes the value of a member that may occur once.
fn once<T>(member: &mut Option<T>, value: Option<T>) -> Option<()> {
    let is_first = member.is_none();
    *member = Some(value?);
    is_first.then_some(())
}

fn text<'l>(value: &mut Cursor<'l>) -> Option<Text<'l>> {
    value.text().map(Text::of)
}

fn stage(value: &mut Cursor<'_>) -> Option<AuditStage> {
    Some(match &*value.text()? {
        "RequestReceived" => AuditStage::RequestReceived,
        "ResponseStarted" => AuditStage::ResponseStarted,
        "ResponseComplete" => AuditStage::ResponseComplete,
        "Panic" => AuditStage::Panic,
        _other => return None,
    })
}

fn level(value: &mut Cursor<'_>) -> Option<AuditLevel> {
    Some(match &*value.text()? {
        "Metadata" => AuditLevel::Metadata,
        "Request" => AuditLevel::Request,
        "RequestResponse" => AuditLevel::RequestResponse,
        _other => AuditLevel::Unknown,
    })
}

fn user<'l>(value: &mut Cursor<'l>) -> Option<User<'l>> {
    let mut username = None;
    value.members(|name, value| match name {
        b"username" => once(&mut username, value.text()),
        _other => value.value(),
    })?;
    Some(User { username: username.unwrap_or_default() })
}

/// The first text of an array. The others have to be texts, too.
fn first_text<'l>(value: &mut Cursor<'l>) -> Option<FirstText<'l>> {
    let mut first: Option<Cow<'l, str>> = None;
    value.elements(|value| {
        let text = value.text()?;
        first.get_or_insert(text);
        Some(())
    })?;
    Some(FirstText::of(first.map(Text::of).unwrap_or_default()))
}

fn object_ref<'l>(value: &mut Cursor<'l>) -> Option<ObjectRef<'l>> {
    let (mut resource, mut api_group) = (None, None);
    value.members(|name, value| match name {
        b"resource" => once(&mut resource, value.text()),
        b"apiGroup" => once(&mut api_group, value.text()),
        _other => value.value(),
    })?;
    Some(ObjectRef { resource: resource.unwrap_or_default(), api_group: api_group.unwrap_or_default() })
}

fn response_status<'l>(value: &mut Cursor<'l>) -> Option<ResponseStatus<'l>> {
    let (mut code, mut status, mut reason, mut message, mut details) = (None, None, None, None, None);
    value.members(|name, value| match name {
        b"code" => once(&mut code, value.digits().and_then(|code| u16::try_from(code).ok())),
        b"status" => once(&mut status, text(value)),
        b"reason" => once(&mut reason, text(value)),
        b"message" => once(&mut message, text(value)),
        b"details" => once(&mut details, self::details(value)),
        _other => value.value(),
    })?;
    Some(ResponseStatus {
        code: code.unwrap_or_default(),
        status: status.unwrap_or_default(),
        reason: reason.unwrap_or_default(),
        message: message.unwrap_or_default(),
        details,
    })
}

/// Details without causes, which are rare.
fn details<'l>(value: &mut Cursor<'l>) -> Option<Details<'l>> {
    let mut retry_after_seconds = None;
    value.members(|name, value| match name {
        b"causes" => None,
        b"retryAfterSeconds" => once(&mut retry_after_seconds, value.digits()),
        _other => value.value(),
    })?;
    Some(Details { causes: Vec::new(), retry_after_seconds })
}

fn annotations<'l>(value: &mut Cursor<'l>) -> Option<Annotations<'l>> {
    let (mut etcd, mut total) = (None, None);
    value.members(|name, value| match name {
        b"apiserver.latency.k8s.io/etcd" => once(&mut etcd, text(value)),
        b"apiserver.latency.k8s.io/total" => once(&mut total, text(value)),
        _other => value.value(),
    })?;
    Some(Annotations { etcd: etcd.unwrap_or_default(), total: total.unwrap_or_default() })
}
