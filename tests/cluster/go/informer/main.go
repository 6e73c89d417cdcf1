// Command informer keeps a copy of the config maps of its namespace, as a controller in a pod does: a shared informer of client-go, with
// rest.InClusterConfig. Its arguments and its output are those of all clients of tests/src/pod_client.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	// An event of this object prints the store.
	printStore = "print-store"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

func run(userAgent string, got []string) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	config.UserAgent = userAgent
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	namespace, err := os.ReadFile(namespaceFile)
	if err != nil {
		return err
	}
	print("started", map[string]any{"library": "client-go " + clientGo(), "server": config.Host})

	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(string(namespace)))
	configMaps := factory.Core().V1().ConfigMaps()
	lister := configMaps.Lister()
	happened := func(event string) func(any) {
		return func(object any) { printEvent(event, object, lister) }
	}
	if _, err := configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    happened("added"),
		UpdateFunc: func(_, after any) { printEvent("updated", after, lister) },
		DeleteFunc: happened("deleted"),
	}); err != nil {
		return err
	}
	ctx := context.Background()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	print("synced", nil)

	for _, name := range got {
		for range time.Tick(time.Second) {
			_, err := clients.CoreV1().ConfigMaps(string(namespace)).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				print("failed", map[string]any{"error": err.Error()})
			} else {
				print("got", map[string]any{"name": name})
			}
		}
	}
	select {}
}

func printEvent(event string, object any, lister listers.ConfigMapLister) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	configMap := object.(*corev1.ConfigMap)
	print(event, map[string]any{"name": configMap.Name, "resourceVersion": configMap.ResourceVersion})
	if configMap.Name != printStore {
		return
	}
	objects := map[string]string{}
	// A lister returns an error only for a selector that it cannot parse.
	all, _ := lister.List(labels.Everything())
	for _, one := range all {
		objects[one.Name] = one.ResourceVersion
	}
	print("store", map[string]any{"objects": objects})
}

var lines sync.Mutex

// print writes one JSON line.
func print(event string, more map[string]any) {
	line := map[string]any{"event": event}
	for name, value := range more {
		line[name] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	lines.Lock()
	defer lines.Unlock()
	fmt.Println(string(text))
}

// clientGo is the version that was linked.
func clientGo() string {
	build, _ := debug.ReadBuildInfo()
	for _, dependency := range build.Deps {
		if dependency.Path == "k8s.io/client-go" {
			return dependency.Version
		}
	}
	return "unknown"
}
