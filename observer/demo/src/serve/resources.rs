//! Requests for resources, one function per verb.

use std::sync::Arc;
use std::time::Duration;

use http::{Response, StatusCode};
use observer_core::k8s::{RequestInfo, Verb, query};
use tokio::time::Instant;

use super::answer;
use super::body::ResponseBody;
use super::form::Form;
use super::stream::Sending;
use crate::api::{Resource, patch, subresource};
use crate::cluster::{Cluster, random_hex};
use crate::options::Parameters;
use crate::read;
use crate::refusal::Refusal;
use crate::select::Selection;
use crate::write::{self, Applied, Deleted, Part, Target};

/// Resources whose deletion returns the object (kubernetes/kubernetes pkg/registry v1.34, `ReturnDeletedObject`).
const RETURN_DELETED: &[&str] = &["namespaces", "pods", "podtemplates", "serviceaccounts", "services"];

/// The parts of a request.
pub(super) struct ResourceRequest<'r> {
    pub(super) cluster: &'r Arc<Cluster>,
    pub(super) resource: &'static Resource,
    pub(super) info: &'r RequestInfo,
    pub(super) query: &'r str,
    pub(super) accept: &'r str,
    pub(super) content_type: &'r str,
    pub(super) body: &'r [u8],
}

pub(super) type Answered = Result<Response<ResponseBody>, Refusal>;

impl ResourceRequest<'_> {
    pub(super) async fn answer(&self) -> Answered {
        match self.info.subresource.as_str() {
            "" => {}
            other if subresource(self.resource, other).is_none() => return Err(Refusal::no_subresource(self.resource, other)),
            "scale" => return self.scale().await,
            _status => {}
        }
        match self.info.verb {
            Verb::Get => self.get().await,
            Verb::List => self.list().await,
            Verb::Watch => self.watch().await,
            Verb::Create => self.create(),
            Verb::Update => self.update(),
            Verb::Patch => self.patch(),
            Verb::Delete => self.delete(),
            Verb::DeleteCollection => self.delete_collection().await,
            Verb::Proxy | Verb::Other => Err(Refusal::method_not_allowed(self.info.verb.as_str(), self.resource)),
        }
    }

    async fn get(&self) -> Answered {
        let form = self.form()?;
        let revision = Parameters::parse(self.query)?.get()?;
        let object = read::get(self.cluster, self.resource, (&self.info.namespace, &self.info.name), revision).await?;
        Ok(answer::json(StatusCode::OK, form.object(self.resource, &object)))
    }

    async fn list(&self) -> Answered {
        let form = self.form()?;
        let (parameters, selection) = self.selection()?;
        let page = read::list(self.cluster, &selection, &parameters).await?;
        Ok(answer::json(StatusCode::OK, form.list(self.resource, &page)))
    }

    async fn watch(&self) -> Answered {
        // Minimum of the random duration of a watch (kubernetes/apiserver pkg/server/config.go v0.34, `MinRequestTimeout`).
        const SHORTEST: u64 = 1800;
        /// Maximum duration of a watch, in seconds. It prevents an overflow of the clock.
        const LONGEST: u64 = 24 * 60 * 60;
        let form = self.form()?;
        let (mut parameters, selection) = self.selection()?;
        let revision = parameters.watch(parameters.watch)?;
        let watch = read::watch(self.cluster, selection, &parameters, revision).await?;
        let drawn = || SHORTEST + u64::from_str_radix(&random_hex(2), 16).unwrap_or(0) % SHORTEST;
        let seconds = parameters.timeout_seconds.unwrap_or_else(drawn);
        let sending = Sending {
            resource: self.resource,
            form,
            bookmarks: parameters.allow_bookmarks,
            bookmark_period: self.cluster.clock.lasts(self.cluster.config.bookmark_period),
            deadline: Instant::now() + Duration::from_secs(seconds.min(LONGEST)),
        };
        Ok(answer::with_type(StatusCode::OK, "application/json", ResponseBody::Stream(sending.start(watch))))
    }

    fn create(&self) -> Answered {
        if (self.resource.namespaced && self.info.namespace.is_empty()) || !self.info.name.is_empty() {
            return Err(Refusal::method_not_allowed("create", self.resource));
        }
        let form = self.form()?;
        let object = write::create(self.cluster, &self.target(), self.content_type, self.body)?;
        Ok(answer::json(StatusCode::CREATED, form.object(self.resource, &object)))
    }

    fn update(&self) -> Answered {
        let form = self.form()?;
        let object = write::update(self.cluster, &self.target(), self.content_type, self.body)?;
        Ok(answer::json(StatusCode::OK, form.object(self.resource, &object)))
    }

    fn patch(&self) -> Answered {
        let media_type = self.content_type.split(';').next().unwrap_or_default().trim();
        if media_type == patch::server_side::MEDIA_TYPE {
            return self.apply();
        }
        let form = self.form()?;
        let object = write::patch(self.cluster, &self.target(), |object| {
            patch::apply(self.content_type, object, self.body).map_err(|error| Refusal::other(error.status, error.message))
        })?;
        Ok(answer::json(StatusCode::OK, form.object(self.resource, &object)))
    }

    fn apply(&self) -> Answered {
        let form = self.form()?;
        let manager = query::first(self.query, "fieldManager").unwrap_or_default();
        let (status, object) = match write::apply(self.cluster, &self.target(), &manager, self.body)? {
            Applied::Created(object) => (StatusCode::CREATED, object),
            Applied::Merged(object) => (StatusCode::OK, object),
        };
        Ok(answer::json(status, form.object(self.resource, &object)))
    }

    fn delete(&self) -> Answered {
        let deleted = write::delete(self.cluster, &self.target(), self.body)?;
        let is_returned = RETURN_DELETED.contains(&self.resource.name) && !self.resource.is_custom();
        let returns_object = is_returned || matches!(deleted, Deleted::Marked(_));
        if returns_object {
            return Ok(answer::json(StatusCode::OK, self.form()?.object(self.resource, deleted.object())));
        }
        let mut details = serde_json::json!({"name": self.info.name, "kind": self.resource.name, "uid": deleted.object().uid()});
        if let Some(fields) = details.as_object_mut().filter(|_| !self.resource.group.is_empty()) {
            fields.insert("group".to_owned(), self.resource.group.into());
        }
        let status = serde_json::json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
        });
        Ok(answer::json(StatusCode::OK, format!("{status}\n")))
    }

    async fn delete_collection(&self) -> Answered {
        if !self.resource.verbs.contains(&"deletecollection") || (self.resource.namespaced && self.info.namespace.is_empty()) {
            return Err(Refusal::method_not_allowed("delete", self.resource));
        }
        let form = self.form()?;
        let (parameters, selection) = self.selection()?;
        let page = read::list(self.cluster, &selection, &parameters).await?;
        write::delete_collection(self.cluster, &self.target(), &page.items, self.body)?;
        Ok(answer::json(StatusCode::OK, form.list(self.resource, &page)))
    }

    pub(super) fn form(&self) -> Result<Form, Refusal> {
        Form::negotiate(self.accept)
    }

    fn selection(&self) -> Result<(Parameters, Selection), Refusal> {
        let mut parameters = Parameters::parse(self.query)?;
        parameters.fields.check(self.resource).map_err(Refusal::bad_request)?;
        // Only the legacy prefix has a name in the path of a watch; otherwise the name came from the field selector.
        let name = &self.info.name;
        if !name.is_empty() && parameters.fields.exact("metadata.name") != Some(name) {
            if !parameters.fields.is_empty() {
                return Err(Refusal::bad_request("fieldSelector metadata.name doesn't match requested name"));
            }
            parameters.fields = std::mem::take(&mut parameters.fields).with_name(name);
        }
        let namespace = if self.resource.namespaced { self.info.namespace.clone() } else { String::new() };
        let selection =
            Selection { resource: self.resource, namespace, labels: parameters.labels.clone(), fields: parameters.fields.clone() };
        Ok((parameters, selection))
    }

    pub(super) fn target(&self) -> Target {
        Target {
            resource: self.resource,
            namespace: if self.resource.namespaced { self.info.namespace.clone() } else { String::new() },
            name: self.info.name.clone(),
            part: if self.info.subresource == "status" { Part::Status } else { Part::Main },
            dry_run: query::first(self.query, "dryRun").is_some_and(|value| value == "All"),
        }
    }
}
