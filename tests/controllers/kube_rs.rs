//! A controller of kube-rs. It defines its resource itself, and writes by server-side apply only.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{Event, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt as _};
use observer_tests::kube_client;
use serde_json::{Value, json};

use super::stage::{Stage, WIDGETS, definition, widget};

const MANAGER: &str = "widget-controller";

#[test]
fn kube_rs_creates_a_crd_and_applies_objects() {
    let stage = Stage::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let client = runtime.block_on(kube_client(&stage.kubeconfig(), None)).unwrap();
    runtime.block_on(define(client.clone()));
    runtime.spawn(control(client));
    stage.create(WIDGETS, &widget("one", 2));
    let path = format!("{WIDGETS}/one");
    let served = stage.until(&path, |one| one.is_some_and(|one| one["status"]["size"] == 2)).unwrap();
    assert_eq!(managers(&served), [(MANAGER, Some("status"))]);
    let both = |child: Option<&Value>| child.is_some_and(|child| child["data"] == json!({"size": "2", "small": "true"}));
    let child = stage.until("/api/v1/namespaces/default/configmaps/one", both).unwrap();
    assert_eq!(managers(&child), [(MANAGER, None)]);
    // The next apply leaves a field out, so the server removes it. The field of another client stays.
    stage.change("/api/v1/namespaces/default/configmaps/one", &json!({"data": {"other": "kept"}}));
    stage.change(&path, &json!({"spec": {"size": 70}}));
    let rest = |child: Option<&Value>| child.is_some_and(|child| child["data"] == json!({"size": "70", "other": "kept"}));
    stage.until("/api/v1/namespaces/default/configmaps/one", rest);
    stage.delete(&path);
    stage.until(&path, |one| one.is_none());
    stage.until("/api/v1/namespaces/default/configmaps/one", |child| child.is_none());
}

/// The managers of an object, with their subresources.
fn managers(object: &Value) -> Vec<(&str, Option<&str>)> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    entries.iter().map(|entry| (entry["manager"].as_str().unwrap(), entry["subresource"].as_str())).collect()
}

async fn define(client: Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    let name = "widgets.example.com";
    definitions.patch(name, &PatchParams::apply(MANAGER), &Patch::Apply(definition())).await.unwrap();
    await_condition(definitions, name, conditions::is_crd_established()).await.unwrap();
}

async fn control(client: Client) {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    let widgets: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &resource);
    let retry = |_: Arc<DynamicObject>, _: &Error, _: Arc<Context>| Action::requeue(Duration::from_secs(1));
    let context = Arc::new(Context { widgets: widgets.clone(), children: Api::namespaced(client, "default") });
    let controller = Controller::new_with(widgets, watcher::Config::default(), resource);
    controller.run(reconcile, retry, context).for_each(|_| std::future::ready(())).await;
}

type Error = kube::runtime::finalizer::Error<kube::Error>;

struct Context {
    widgets: Api<DynamicObject>,
    children: Api<ConfigMap>,
}

async fn reconcile(widget: Arc<DynamicObject>, context: Arc<Context>) -> Result<Action, Error> {
    finalizer(&context.widgets, "example.com/kube-rs", widget, async |event| match event {
        Event::Apply(widget) => context.apply(&widget).await,
        Event::Cleanup(widget) => {
            context.children.delete(&widget.name_any(), &kube::api::DeleteParams::default()).await?;
            Ok(Action::await_change())
        }
    })
    .await
}

impl Context {
    async fn apply(&self, widget: &DynamicObject) -> Result<Action, kube::Error> {
        let (name, size) = (widget.name_any(), widget.data["spec"]["size"].as_i64().unwrap_or_default());
        let apply = PatchParams::apply(MANAGER).force();
        let mut data = json!({"size": size.to_string()});
        if size < 10 {
            data["small"] = json!("true");
        }
        let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data});
        self.children.patch(&name, &apply, &Patch::Apply(child)).await?;
        let status =
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "status": {"size": size}});
        self.widgets.patch_status(&name, &apply, &Patch::Apply(status)).await?;
        Ok(Action::await_change())
    }
}
