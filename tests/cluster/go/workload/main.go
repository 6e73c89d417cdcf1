// Command workload is a client in a pod whose sidecar is measured: client-go with rest.InClusterConfig and without a limit of its own. Its
// first argument is the task. A task that ends prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	// The config map that is read, and the one that is changed.
	read, changed = "read", "changed"
	// The number of pods that are created or changed at the same time.
	parallel = 8
	// Requests before the first one that is measured.
	warmUp = 50
	// The time between an event and the next change.
	pause = 5 * time.Millisecond
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(1)
	}
}

func run(task string, arguments []string) error {
	if task == "wait" {
		waitForEnd()
		return nil
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	config.QPS = -1
	namespace, err := os.ReadFile(namespaceFile)
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	number := func(index int) int {
		number, parseErr := strconv.Atoi(arguments[index])
		err = errors.Join(err, parseErr)
		return number
	}
	ctx := context.Background()
	client := client{clients, string(namespace)}
	switch task {
	case "informers":
		return client.informers(ctx)
	case "create":
		return client.create(ctx, number(0))
	case "change":
		return client.change(ctx, number(0), number(1))
	case "get":
		return client.get(ctx, number(0))
	case "watch":
		// The changes take the direct way, past the sidecar.
		config.Host = arguments[1]
		direct, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		return client.watch(ctx, number(0), direct)
	}
	return fmt.Errorf("unknown task %s", task)
}

func waitForEnd() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}

type client struct {
	*kubernetes.Clientset
	namespace string
}

// informers follows ten resources of all namespaces.
func (client client) informers(ctx context.Context) error {
	begun := time.Now()
	factory := informers.NewSharedInformerFactory(client, 0)
	core, apps := factory.Core().V1(), factory.Apps().V1()
	all := []cache.SharedIndexInformer{
		core.Pods().Informer(),
		core.ConfigMaps().Informer(),
		core.Secrets().Informer(),
		core.Services().Informer(),
		core.ServiceAccounts().Informer(),
		core.Namespaces().Informer(),
		core.Nodes().Informer(),
		apps.Deployments().Informer(),
		apps.ReplicaSets().Informer(),
		factory.Batch().V1().Jobs().Informer(),
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	objects := 0
	for _, informer := range all {
		objects += len(informer.GetStore().ListKeys())
	}
	if err := print(map[string]any{"informers": len(all), "objects": objects, "seconds": time.Since(begun).Seconds()}); err != nil {
		return err
	}
	waitForEnd()
	return nil
}

// create creates pods that no scheduler takes.
func (client client) create(ctx context.Context, number int) error {
	err := inParallel(number, func(index int) error {
		_, err := client.CoreV1().Pods(client.namespace).Create(ctx, pod(index), metav1.CreateOptions{})
		return err
	})
	return errors.Join(err, print(map[string]any{"created": number}))
}

// change changes one of the pods with each tick: so many in a second, for some seconds.
func (client client) change(ctx context.Context, rate, seconds int) error {
	ticks := time.NewTicker(time.Second / time.Duration(rate))
	defer ticks.Stop()
	for index := range rate * seconds {
		<-ticks.C
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"change":"%d"}}}`, time.Now().UnixNano())
		// Each change is of another pod, as long as there are so many.
		name := podName(index)
		_, err := client.CoreV1().Pods(client.namespace).
			Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil {
			return err
		}
	}
	return print(map[string]any{"changes": rate * seconds})
}

// get reads one object again and again on one connection.
func (client client) get(ctx context.Context, number int) error {
	var durations []time.Duration
	for index := range warmUp + number {
		begun := time.Now()
		if _, err := client.CoreV1().ConfigMaps(client.namespace).Get(ctx, read, metav1.GetOptions{}); err != nil {
			return err
		}
		if index >= warmUp {
			durations = append(durations, time.Since(begun))
		}
	}
	return printLatencies(durations)
}

// watch measures the time from the beginning of a write to its event.
func (client client) watch(ctx context.Context, number int, direct kubernetes.Interface) error {
	options := metav1.ListOptions{FieldSelector: "metadata.name=" + changed}
	list, err := client.CoreV1().ConfigMaps(client.namespace).List(ctx, options)
	if err != nil {
		return err
	}
	options.ResourceVersion = list.ResourceVersion
	events, err := client.CoreV1().ConfigMaps(client.namespace).Watch(ctx, options)
	if err != nil {
		return err
	}
	defer events.Stop()
	var durations []time.Duration
	for index := range warmUp + number {
		value := strconv.FormatInt(time.Now().UnixNano(), 10)
		written := make(chan error, 1)
		begun := time.Now()
		go func() {
			patch := fmt.Sprintf(`{"data":{"value":"%s"}}`, value)
			_, err := direct.CoreV1().ConfigMaps(client.namespace).
				Patch(ctx, changed, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			written <- err
		}()
		for {
			event, isOpen := <-events.ResultChan()
			if !isOpen {
				return errors.New("the watch ended")
			}
			if configMap, ok := event.Object.(*corev1.ConfigMap); ok && configMap.Data["value"] == value {
				break
			}
		}
		taken := time.Since(begun)
		if err := <-written; err != nil {
			return err
		}
		if index >= warmUp {
			durations = append(durations, taken)
		}
		time.Sleep(pause)
	}
	return printLatencies(durations)
}

func printLatencies(durations []time.Duration) error {
	slices.Sort(durations)
	at := func(percent int) float64 {
		return float64(durations[(len(durations)-1)*percent/100].Nanoseconds()) / 1000
	}
	return print(map[string]any{"p50_us": at(50), "p99_us": at(99)})
}

func print(line map[string]any) error {
	text, err := json.Marshal(line)
	if err == nil {
		_, err = fmt.Println(string(text))
	}
	return err
}

func inParallel(number int, do func(index int) error) error {
	indices := make(chan int)
	var failures sync.Map
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for index := range indices {
				if err := do(index); err != nil {
					failures.Store(index, err)
				}
			}
		})
	}
	for index := range number {
		indices <- index
	}
	close(indices)
	workers.Wait()
	var all []error
	failures.Range(func(_, err any) bool {
		all = append(all, err.(error))
		return true
	})
	return errors.Join(all...)
}

func podName(index int) string {
	return fmt.Sprintf("object-%04d", index)
}

// pod is as large as one of a Deployment, some kilobytes, and stays pending.
func pod(index int) *corev1.Pod {
	name := podName(index)
	var environment []corev1.EnvVar
	for variable := range 20 {
		environment = append(environment, corev1.EnvVar{
			Name:  fmt.Sprintf("SETTING_%02d", variable),
			Value: strings.Repeat("value ", 10) + strconv.Itoa(index),
		})
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name, "of": "workload"}},
		Spec: corev1.PodSpec{
			SchedulerName: "none",
			Containers:    []corev1.Container{{Name: "app", Image: "localhost/none:1", Env: environment}},
		},
	}
}
