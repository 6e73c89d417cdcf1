// Command reflector keeps a copy of the config maps of one namespace, as controllers do: a shared informer of client-go on the API server of
// KUBECONFIG. What it asks for and what comes of it are JSON lines on stdout.
//
// One file for every client-go from 0.15 on: nothing here has changed its signature since.
//
//	reflector NAMESPACE USER-AGENT
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "reflector:", err)
		os.Exit(1)
	}
}

func run(namespace, userAgent string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.UserAgent = userAgent
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	say("started", map[string]interface{}{"clientGo": clientGo()})
	configMaps := cache.NewListWatchFromClient(clients.CoreV1().RESTClient(), "configmaps", namespace, fields.Everything())
	informer := cache.NewSharedInformer(told{configMaps}, &corev1.ConfigMap{}, 0)
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object interface{}) { sayObject("added", object) },
		DeleteFunc: func(object interface{}) { sayObject("deleted", object) },
		UpdateFunc: func(before, after interface{}) {
			if before.(*corev1.ConfigMap).ResourceVersion == after.(*corev1.ConfigMap).ResourceVersion {
				sayObject("updated with the same version", after)
			} else {
				sayObject("updated", after)
			}
		},
	})
	if err := askWhenTold(config); err != nil {
		return err
	}
	forever := make(chan struct{})
	go func() {
		if cache.WaitForCacheSync(forever, informer.HasSynced) {
			say("synced", nil)
		}
	}()
	informer.Run(forever)
	return nil
}

// askWhenTold asks for /version a few hundred times at each SIGUSR1, on the connections that the informer has: client-go keeps one transport
// for all that have the same configuration.
func askWhenTold(config *rest.Config) error {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return err
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	go func() {
		for range told {
			for i := 0; i < 400; i++ {
				request, err := http.NewRequest("GET", config.Host+"/version", nil)
				if err != nil {
					panic(err)
				}
				response, err := transport.RoundTrip(request)
				sayError("asking failed", err)
				if err == nil {
					_, err = io.Copy(io.Discard, response.Body)
					sayError("asking failed", err)
					response.Body.Close()
				}
			}
			say("asked", nil)
		}
	}()
	return nil
}

// told says what the reflector asks for. Everything else about a ListerWatcher stays as it is, and is not known to newer reflectors either.
type told struct{ asked cache.ListerWatcher }

func (t told) List(options metav1.ListOptions) (runtime.Object, error) {
	say("list", map[string]interface{}{"options": options})
	list, err := t.asked.List(options)
	sayError("list failed", err)
	return list, err
}

func (t told) Watch(options metav1.ListOptions) (watch.Interface, error) {
	say("watch", map[string]interface{}{"options": options})
	watcher, err := t.asked.Watch(options)
	sayError("watch failed", err)
	return watcher, err
}

func sayError(what string, err error) {
	if err != nil {
		say(what, map[string]interface{}{"error": err.Error()})
	}
}

func sayObject(what string, object interface{}) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	configMap := object.(*corev1.ConfigMap)
	say(what, map[string]interface{}{"name": configMap.Name, "resourceVersion": configMap.ResourceVersion})
}

var lines sync.Mutex

// say prints one line: what happened, when, and more about it.
func say(what string, more map[string]interface{}) {
	line := map[string]interface{}{"what": what, "at": time.Now().UTC().Format(time.RFC3339Nano)}
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

// clientGo is the version that was linked, which need not be the one that was asked for.
func clientGo() string {
	build, _ := debug.ReadBuildInfo()
	for _, dependency := range build.Deps {
		if dependency.Path == "k8s.io/client-go" {
			return dependency.Version
		}
	}
	return "unknown"
}
