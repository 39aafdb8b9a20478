package plugin

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
)

// KindModels is the kind of plugins that are model families.
const KindModels = "models"

// handshake tells a plugin that Pooled started it. It is no secret: it only keeps people from starting one by hand.
var handshake = goplugin.HandshakeConfig{MagicCookieKey: "POOLED_PLUGIN", MagicCookieValue: "b9dd2d0a5f6f4d3c"}

// versions lists every version of the model contract that is spoken, newest and the one before it. A plugin picks the
// greatest that it knows. On the plugin's side f is served; the host's side needs none.
func versions(f model.Family) map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{
		modelv1.Version: {KindModels: &modelPlugin{family: f}},
	}
}

// modelPlugin is version 1 of the model contract as go-plugin wants it.
type modelPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	family model.Family
}

// GRPCServer implements [goplugin.GRPCPlugin].
func (p *modelPlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	modelv1.Register(s, p.family)
	return nil
}

// ServeFamily is the main function of a plugin that is a model family. It returns when the host is done with it.
//
// Started by hand, it says what the program is and exits with status 2.
func ServeFamily(f model.Family) {
	if os.Getenv(handshake.MagicCookieKey) != handshake.MagicCookieValue {
		info := f.Info()
		fmt.Fprintf(os.Stderr, `This program is a Pooled plugin: the model family %s, for %s.
Check it with "pooled plugin check PATH". To use it, put it into the folder that "pooled plugin list" names, then run
"pooled plugin approve %s".
`, info.Name, strings.Join(info.Architectures, ", "), info.Name)
		os.Exit(2)
	}
	go func() {
		// Nothing is ever written to standard input: it ends when the host does.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  handshake,
		VersionedPlugins: versions(f),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(modelv1.MaxMessage))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Error}),
	})
}
