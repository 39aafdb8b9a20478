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
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/tool/toolv1"
)

// handshake tells a plugin that Pooled started it. It is no secret: it only keeps people from starting one by hand.
var handshake = goplugin.HandshakeConfig{MagicCookieKey: "POOLED_PLUGIN", MagicCookieValue: "b9dd2d0a5f6f4d3c"}

// ServeFamily is the main function of a plugin that is a model family. It returns when the host is done with it.
//
// Started by hand, it says what the program is and exits with status 2.
func ServeFamily(f model.Family) {
	info := f.Info()
	serve(models, "the model family "+info.Name+", for "+strings.Join(info.Architectures, ", "), info.Name,
		func(_ int, s grpc.ServiceRegistrar) { modelv1.Register(s, f) })
}

// ServeTools is the main function of a plugin that is a set of tools. It returns when the host is done with it.
//
// Started by hand, it says what the program is and exits with status 2.
func ServeTools(t tool.Set) {
	info := t.Info()
	var names []string
	for _, spec := range info.Tools {
		names = append(names, spec.Name)
	}
	serve(tools, "the tools "+info.Name+": "+strings.Join(names, ", "), info.Name,
		func(_ int, s grpc.ServiceRegistrar) { toolv1.Register(s, t) })
}

// Serve serves what is built in under a name, such as "models/dense" or "tools/files": "plugin serve NAME" of the program
// that the catalog belongs to. It returns when the host is done with it.
//
// Errors: [ErrUnknown].
func (c *Catalog) Serve(name string) error {
	if t, err := c.BuiltinTools(name); err == nil {
		ServeTools(t)
		return nil
	}
	f, err := c.Builtin(name)
	if err != nil {
		return err
	}
	ServeFamily(f)
	return nil
}

// serve is a plugin's side of the contract.
func serve(k *kind, what, name string, register func(version int, s grpc.ServiceRegistrar)) {
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
		VersionedPlugins: k.serve(register),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(k.maxMessage))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Error}),
	})
}
