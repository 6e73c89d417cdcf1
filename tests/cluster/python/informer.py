"""Keeps a copy of the config maps of its namespace, as a controller in a pod does: a loop of list and watch with the official Python
client, with load_incluster_config. Its arguments and its output are those of all clients of tests/src/pod_client."""

import json
import os
import sys
import threading
import time
from importlib.metadata import version

from kubernetes import client, config, watch

NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
# An event of this object prints the store.
PRINT_STORE = "print-store"
PAUSE_AFTER_ERROR = 1

lines = threading.Lock()


def main(user_agent, *got):
    config.load_incluster_config()
    api_client = client.ApiClient()
    api_client.user_agent = user_agent
    core = client.CoreV1Api(api_client)
    with open(NAMESPACE_FILE) as file:
        namespace = file.read()
    emit("started", library=f"kubernetes {version('kubernetes')}", server=api_client.configuration.host)
    for name in got:
        threading.Thread(target=get_each_second, args=(core, namespace, name), daemon=True).start()
    store = {}
    while True:
        try:
            follow(core, namespace, store)
        except Exception as error:
            emit("failed", error=str(error))
            time.sleep(PAUSE_AFTER_ERROR)


def follow(core, namespace, store):
    """Lists, and watches from there until the watch fails: 410 means that the client must relist."""
    listed = core.list_namespaced_config_map(namespace)
    names = {item.metadata.name for item in listed.items}
    for name in [name for name in store if name not in names]:
        happened("deleted", name, store.pop(name), store)
    for item in listed.items:
        apply(item.metadata, store)
    emit("synced")
    since = listed.metadata.resource_version
    for event in watch.Watch().stream(core.list_namespaced_config_map, namespace, resource_version=since):
        metadata = event["object"].metadata
        if event["type"] == "DELETED":
            store.pop(metadata.name, None)
            happened("deleted", metadata.name, metadata.resource_version, store)
        elif event["type"] in ("ADDED", "MODIFIED"):
            apply(metadata, store)


def apply(metadata, store):
    event = "updated" if metadata.name in store else "added"
    store[metadata.name] = metadata.resource_version
    happened(event, metadata.name, metadata.resource_version, store)


def happened(event, name, resource_version, store):
    emit(event, name=name, resourceVersion=resource_version)
    if name == PRINT_STORE:
        emit("store", objects=store)


def get_each_second(core, namespace, name):
    while True:
        try:
            core.read_namespaced_config_map(name, namespace)
            emit("got", name=name)
        except Exception as error:
            emit("failed", error=str(error))
        time.sleep(1)


def emit(event, **more):
    """Prints one JSON line. A broken pipe means that the test is over."""
    with lines:
        try:
            print(json.dumps({"event": event, **more}), flush=True)
        except BrokenPipeError:
            os._exit(1)


main(*sys.argv[1:])
