// Command apiextensions is the API server of custom resources alone, of the release that go.mod names: of 1.37 that is all
// that can be built from published modules, and its lists and watches are those of every API server of that minor.
package main

import (
	"os"

	"k8s.io/apiextensions-apiserver/pkg/cmd/server"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
)

func main() {
	ctx := genericapiserver.SetupSignalContext()
	os.Exit(cli.Run(server.NewServerCommand(ctx, os.Stdout, os.Stderr)))
}
