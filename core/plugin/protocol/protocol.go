// Package protocol is what the two sides of a plugin agree on before they talk: how a program knows that Pooled started it,
// and which versions of which kind's contract are spoken. Both the host (core/plugin) and the author's side
// (core/plugin/serve) import it; a further kind begins with an entry here.
//
// core/plugin/modelv1/model.proto says it all in words, for programs in other languages.
package protocol

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin/modelv1"
	"github.com/pooled/pooled/core/plugin/toolv1"
	"github.com/pooled/pooled/core/tool"
)

// Kind is a kind of plugins, by what they extend.
type Kind struct {
	// Name is the kind's in manifests, and the first part of the names of what is built in: "models/dense".
	Name string
	// Versions are those of the wire form that are spoken, the newest last.
	Versions []int
	// Contract is the newest version of the contract that a plugin may be written for.
	Contract int
	// MaxMessage bounds a message. Units: bytes.
	MaxMessage int
}

// The kinds.
var (
	// Models are model families: core/plugin/modelv1.
	Models = Kind{Name: "models", Versions: []int{modelv1.Version}, Contract: model.ContractVersion, MaxMessage: modelv1.MaxMessage}
	// Tools are sets of tools: core/plugin/toolv1.
	Tools = Kind{
		Name: "tools", Versions: []int{toolv1.Version1, toolv1.Version2}, Contract: tool.ContractVersion, MaxMessage: toolv1.MaxMessage,
	}
)

// BuiltIn returns what a plugin of the kind that comes with Pooled is called, such as "models/dense".
func (k Kind) BuiltIn(name string) string { return k.Name + "/" + name }

// Handshake tells a plugin that Pooled started it. It is no secret: it only keeps people from starting one by hand.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{MagicCookieKey: "POOLED_PLUGIN", MagicCookieValue: "b9dd2d0a5f6f4d3c"}
}

// Dispensed is how go-plugin calls the one thing that a plugin serves.
const Dispensed = "plugin"

// Plugins is what go-plugin serves, or dispenses on the host's side, for each version that is spoken. A plugin picks the
// greatest that it knows; register puts its service up in that one. The host, which puts nothing up, gives nil.
func (k Kind) Plugins(register func(s grpc.ServiceRegistrar, version int)) map[int]goplugin.PluginSet {
	all := map[int]goplugin.PluginSet{}
	for _, v := range k.Versions {
		all[v] = goplugin.PluginSet{Dispensed: &service{register: register, version: v}}
	}
	return all
}

// service is one version of a contract as go-plugin wants it.
type service struct {
	goplugin.NetRPCUnsupportedPlugin
	register func(grpc.ServiceRegistrar, int)
	version  int
}

// GRPCServer implements [goplugin.GRPCPlugin].
func (p *service) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	if p.register != nil {
		p.register(s, p.version)
	}
	return nil
}

// GRPCClient implements [goplugin.GRPCPlugin]: it hands the connection out, for a client with a context.
func (p *service) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}
