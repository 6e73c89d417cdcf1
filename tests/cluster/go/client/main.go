// Command client speaks to the API server of KUBECONFIG as client-go does, a part after another, each with a User-Agent of its own:
// typed (protobuf), dynamic (JSON), metadata-only, discovery and OpenAPI. It says "PART done" for each.
//
// Its argument is a namespace with config maps.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Nothing here takes longer.
const limit = 30 * time.Second

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	namespace := os.Args[1]
	parts := []struct {
		name string
		run  func(context.Context, *rest.Config, string) error
	}{
		{"typed", typed}, {"dynamic", untyped}, {"metadata", metadataOnly}, {"discovery", discover},
	}
	for _, part := range parts {
		config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
		if err == nil {
			config.UserAgent = part.name + "-client/v1.2.3 (linux/amd64) kubernetes/$Format"
			err = part.run(ctx, config, namespace)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, part.name+":", err)
			os.Exit(1)
		}
		fmt.Println(part.name, "done")
	}
}

// typed reads in protobuf: a list of any revision, a page, a consistent list, an object, and a watch from the list's revision.
func typed(ctx context.Context, config *rest.Config, namespace string) error {
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.ContentType = "application/vnd.kubernetes.protobuf"
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	client := clients.CoreV1().ConfigMaps(namespace)
	if _, err := client.List(ctx, metav1.ListOptions{ResourceVersion: "0", Limit: 2}); err != nil {
		return err
	}
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if _, err := client.Get(ctx, list.Items[0].Name, metav1.GetOptions{}); err != nil {
		return err
	}
	watcher, err := client.Watch(ctx, following(list.ResourceVersion))
	if err != nil {
		return err
	}
	return firstEvent(ctx, watcher, func() error {
		_, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "typed-"}}, metav1.CreateOptions{})
		return err
	})
}

// untyped reads in JSON.
func untyped(ctx context.Context, config *rest.Config, namespace string) error {
	clients, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	client := clients.Resource(configMaps).Namespace(namespace)
	list, err := client.List(ctx, metav1.ListOptions{Limit: 2})
	if err != nil {
		return err
	}
	if _, err := client.List(ctx, metav1.ListOptions{Limit: 2, Continue: list.GetContinue()}); err != nil {
		return err
	}
	watcher, err := client.Watch(ctx, following(list.GetResourceVersion()))
	if err != nil {
		return err
	}
	return firstEvent(ctx, watcher, func() error {
		object := list.Items[0].DeepCopy()
		object.SetAnnotations(map[string]string{"changed": time.Now().String()})
		_, err := client.Update(ctx, object, metav1.UpdateOptions{})
		return err
	})
}

// metadataOnly reads PartialObjectMetadata.
func metadataOnly(ctx context.Context, config *rest.Config, namespace string) error {
	clients, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	client := clients.Resource(configMaps).Namespace(namespace)
	list, err := client.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	watcher, err := client.Watch(ctx, following(list.ResourceVersion))
	if err != nil {
		return err
	}
	return firstEvent(ctx, watcher, func() error {
		return client.Delete(ctx, list.Items[len(list.Items)-1].Name, metav1.DeleteOptions{})
	})
}

// discover asks what there is, as kubectl does, and for the OpenAPI documents.
func discover(_ context.Context, config *rest.Config, _ string) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	if _, err := client.ServerVersion(); err != nil {
		return err
	}
	if _, _, err := client.ServerGroupsAndResources(); err != nil {
		return err
	}
	if _, err := client.OpenAPISchema(); err != nil {
		return err
	}
	_, err = client.OpenAPIV3().Paths()
	return err
}

func following(resourceVersion string) metav1.ListOptions {
	return metav1.ListOptions{ResourceVersion: resourceVersion, AllowWatchBookmarks: true}
}

// firstEvent makes a change and waits until the watch tells of it.
func firstEvent(ctx context.Context, watcher watch.Interface, change func() error) error {
	defer watcher.Stop()
	if err := change(); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-watcher.ResultChan():
			if !open || event.Type == watch.Error {
				return fmt.Errorf("the watch ended: %v", runtime.Object(event.Object))
			}
			if event.Type != watch.Bookmark {
				return nil
			}
		}
	}
}
