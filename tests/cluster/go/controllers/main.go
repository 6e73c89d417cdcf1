// Command controllers runs one controller against the API server of KUBECONFIG until its standard input ends: `client-go` or
// `controller-runtime`, each as their own examples build it, or `secrets NAMESPACE N`, which watches N Secrets one by one, as a kubelet. tests/cluster/demo_controllers.rs is the user of both.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "example.com/controllers"

var widgets = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err == nil {
		switch os.Args[1] {
		case "client-go":
			err = clientGo(ctx, config)
		case "controller-runtime":
			err = controllerRuntime(ctx, config)
		case "secrets":
			err = watchSecrets(ctx, config, os.Args[2], os.Args[3])
		default:
			err = fmt.Errorf("no such controller: %s", os.Args[1])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// watchSecrets watches single Secrets, all of them on the connections of one client.
func watchSecrets(ctx context.Context, config *rest.Config, namespace, number string) error {
	config.QPS = -1
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	secrets, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	for i := range secrets {
		one := metav1.ListOptions{FieldSelector: fmt.Sprintf("metadata.name=secret-%d", i), ResourceVersion: "0"}
		if _, err := clients.CoreV1().Secrets(namespace).Watch(ctx, one); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// clientGo leads, then gives each deployment a finalizer, a status and an event. It writes in protobuf.
func clientGo(ctx context.Context, config *rest.Config) error {
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.ContentType = "application/vnd.kubernetes.protobuf"
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "controllers"})
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "client-go"},
		Client:     clients.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "the-leader", EventRecorder: recorder},
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { lead(ctx, clients, recorder) },
			OnStoppedLeading: func() {},
		},
	})
	return nil
}

func lead(ctx context.Context, clients kubernetes.Interface, recorder record.EventRecorder) {
	factory := informers.NewSharedInformerFactory(clients, 0)
	informer := factory.Apps().V1().Deployments()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
	enqueue := func(object any) {
		if deployment, ok := object.(*appsv1.Deployment); ok {
			queue.Add(types.NamespacedName{Namespace: deployment.Namespace, Name: deployment.Name})
		}
	}
	_, _ = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go func() {
		<-ctx.Done()
		queue.ShutDown()
	}()
	for {
		key, shutdown := queue.Get()
		if shutdown {
			return
		}
		deployment, err := informer.Lister().Deployments(key.Namespace).Get(key.Name)
		if err == nil {
			err = serve(ctx, clients, recorder, deployment.DeepCopy())
		}
		if err != nil && !apierrors.IsNotFound(err) {
			fmt.Fprintln(os.Stderr, err)
			queue.AddRateLimited(key)
		} else {
			queue.Forget(key)
		}
		queue.Done(key)
	}
}

func serve(ctx context.Context, clients kubernetes.Interface, recorder record.EventRecorder, deployment *appsv1.Deployment) error {
	client := clients.AppsV1().Deployments(deployment.Namespace)
	var err error
	switch {
	case deployment.DeletionTimestamp != nil:
		if controllerutil.RemoveFinalizer(deployment, finalizer) {
			_, err = client.Update(ctx, deployment, metav1.UpdateOptions{})
		}
	case controllerutil.AddFinalizer(deployment, finalizer):
		_, err = client.Update(ctx, deployment, metav1.UpdateOptions{})
	case deployment.Status.ObservedGeneration != deployment.Generation:
		deployment.Status.ObservedGeneration = deployment.Generation
		deployment.Status.Replicas = *deployment.Spec.Replicas
		if _, err = client.UpdateStatus(ctx, deployment, metav1.UpdateOptions{}); err == nil {
			recorder.Event(deployment, corev1.EventTypeNormal, "Served", "the deployment has a status")
		}
	}
	return err
}

// controllerRuntime leads, then gives each widget a finalizer, a config map and a status.
func controllerRuntime(ctx context.Context, config *rest.Config) error {
	ctrl.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "controller-runtime",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(widgets)
	err = ctrl.NewControllerManagedBy(manager).For(widget).Owns(&corev1.ConfigMap{}).Complete(&reconciler{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(widgets)
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if widget.GetDeletionTimestamp() != nil {
		if controllerutil.RemoveFinalizer(widget, finalizer) {
			return ctrl.Result{}, r.Update(ctx, widget)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(widget, finalizer) {
		return ctrl.Result{}, r.Update(ctx, widget)
	}
	size, _, err := unstructured.NestedInt64(widget.Object, "spec", "size")
	if err != nil {
		return ctrl.Result{}, err
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	_, err = controllerutil.CreateOrUpdate(ctx, r, child, func() error {
		child.Data = map[string]string{"size": fmt.Sprint(size)}
		return controllerutil.SetControllerReference(widget, child, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	before := widget.DeepCopy()
	if err := unstructured.SetNestedField(widget.Object, size, "status", "size"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Patch(ctx, widget, client.MergeFrom(before))
}
