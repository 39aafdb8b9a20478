// Package serve is the author's side of a plugin: the main function of a program that is a model family or a set of tools.
//
//	func main() { serve.Family(Family{}) }
//
// It knows nothing of how plugins are found, approved and supervised; that is core/plugin.
package serve

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin/modelv1"
	"github.com/pooled/pooled/core/plugin/protocol"
	"github.com/pooled/pooled/core/plugin/toolv1"
	"github.com/pooled/pooled/core/tool"
)

// Family is the main function of a plugin that is a model family. It returns when the host is done with it.
//
// Started by hand, it says what the program is and exits with status 2.
func Family(f model.Family) {
	info := f.Info()
	run(protocol.Models, info.Name, "the model family "+info.Name+", for "+strings.Join(info.Architectures, ", "),
		func(s grpc.ServiceRegistrar, _ int) { modelv1.Register(s, f) })
}

// Tools is the main function of a plugin that is a set of tools. It returns when the host is done with it.
//
// Started by hand, it says what the program is and exits with status 2.
func Tools(t tool.Set) {
	info := t.Info()
	var names []string
	for _, spec := range info.Tools {
		names = append(names, spec.Name)
	}
	run(protocol.Tools, info.Name, "the tools "+info.Name+": "+strings.Join(names, ", "),
		func(s grpc.ServiceRegistrar, version int) { toolv1.Register(s, t, version) })
}

// run serves what register puts up until the host is done with it.
func run(k protocol.Kind, name, what string, register func(grpc.ServiceRegistrar, int)) {
	handshake := protocol.Handshake()
	if os.Getenv(handshake.MagicCookieKey) != handshake.MagicCookieValue {
		fmt.Fprintf(os.Stderr, `This program is a Pooled plugin: %s.
Check it with "pooled plugin check PATH". To use it, put it into the folder that "pooled plugin list" names, then run
"pooled plugin approve %s".
`, what, name)
		os.Exit(2)
	}
	go func() {
		// Nothing is ever written to standard input: it ends when the host does.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  handshake,
		VersionedPlugins: k.Plugins(register),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(k.MaxMessage))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Error}),
	})
}
