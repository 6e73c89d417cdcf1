//! Requests for the scale of a workload.

use http::StatusCode;
use observer_core::k8s::Verb;

use super::answer;
use super::resources::{Answered, ResourceRequest};
use crate::api::{patch, scale};
use crate::options::Parameters;
use crate::read;
use crate::refusal::Refusal;
use crate::store::Object;
use crate::write;

impl ResourceRequest<'_> {
    /// Answers a request whose path ends in `/scale`.
    pub(super) async fn scale(&self) -> Answered {
        let workload = match self.info.verb {
            Verb::Get => {
                let revision = Parameters::parse(self.query)?.get()?;
                read::get(self.cluster, self.resource, (&self.info.namespace, &self.info.name), revision).await?
            }
            Verb::Update => write::replace_scale(self.cluster, &self.target(), self.content_type, self.body)?,
            Verb::Patch => write::change_scale(self.cluster, &self.target(), |present| {
                patch::apply(self.content_type, present, self.body).map_err(|error| Refusal::other(error.status, error.message))
            })?,
            Verb::List | Verb::Watch | Verb::Create | Verb::Delete | Verb::DeleteCollection | Verb::Proxy | Verb::Other => {
                return Err(Refusal::no_such_method());
            }
        };
        let scale = scale::of(&workload.typed(&self.resource.api_version(), self.resource.kind));
        let scale = Object::at_revision(scale, workload.revision());
        Ok(answer::json(StatusCode::OK, self.form()?.object(&scale::SCALE, &scale)))
    }
}
