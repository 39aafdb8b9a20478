package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin/modelv1"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/tool/toolv1"
)

// The kinds of plugins, by what they extend.
const (
	// KindModels is the kind of plugins that are model families.
	KindModels = "models"
	// KindTools is the kind of plugins that are sets of tools.
	KindTools = "tools"
)

// kind is what the supervisor must know of a kind of plugins.
type kind struct {
	name string
	// versions of the contract that are spoken.
	versions []int
	// contract is the newest version of the contract that is understood.
	contract int
	// maxMessage bounds a message. Units: bytes.
	maxMessage int
	// greet asks the program who it is: the result is a *modelv1.Client or a *toolv1.Client.
	greet func(context.Context, *grpc.ClientConn) (any, error)
}

var (
	models = &kind{
		name: KindModels, versions: []int{modelv1.Version}, contract: model.ContractVersion, maxMessage: modelv1.MaxMessage,
		greet: func(ctx context.Context, conn *grpc.ClientConn) (any, error) { return modelv1.NewClient(ctx, conn) },
	}
	tools = &kind{
		name: KindTools, versions: []int{toolv1.Version}, contract: tool.ContractVersion, maxMessage: toolv1.MaxMessage,
		greet: func(ctx context.Context, conn *grpc.ClientConn) (any, error) { return toolv1.NewClient(ctx, conn) },
	}
	// either is a program of which it is not said what it extends.
	either = &kind{
		name: KindModels + " or " + KindTools, versions: union(models.versions, tools.versions),
		maxMessage: max(models.maxMessage, tools.maxMessage),
		greet: func(ctx context.Context, conn *grpc.ClientConn) (any, error) {
			family, err := models.greet(ctx, conn)
			if status.Code(err) != codes.Unimplemented {
				return family, err
			}
			return tools.greet(ctx, conn)
		},
	}
)

// kindOf returns the kind of a name; of no name, [either].
func kindOf(name string) *kind {
	switch name {
	case KindModels:
		return models
	case KindTools:
		return tools
	case "":
		return either
	}
	return nil
}

func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// host is what go-plugin dispenses on the host's side for each version.
func (k *kind) host() map[int]goplugin.PluginSet {
	return k.serve(func(int, grpc.ServiceRegistrar) {})
}

// serve is what go-plugin serves for each version that is spoken, the newest and the one before it. A plugin picks the
// greatest that it knows.
func (k *kind) serve(register func(version int, s grpc.ServiceRegistrar)) map[int]goplugin.PluginSet {
	all := map[int]goplugin.PluginSet{}
	for _, v := range k.versions {
		all[v] = goplugin.PluginSet{dispensed: &service{register: func(s grpc.ServiceRegistrar) { register(v, s) }}}
	}
	return all
}

// dispensed is how go-plugin calls the one thing that a plugin serves.
const dispensed = "plugin"

// service is one version of a contract as go-plugin wants it.
type service struct {
	goplugin.NetRPCUnsupportedPlugin
	register func(grpc.ServiceRegistrar)
}

// GRPCServer implements [goplugin.GRPCPlugin].
func (p *service) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	p.register(s)
	return nil
}

// GRPCClient implements [goplugin.GRPCPlugin]: it hands the connection out, for a client with a context.
func (p *service) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// isFault reports whether an answer of a plugin breaks a contract.
func isFault(err error) bool { return errors.Is(err, model.ErrFault) || errors.Is(err, tool.ErrFault) }

// family returns what a process serves as a model family.
func (p *process) family() (*modelv1.Client, error) {
	f, ok := p.served.(*modelv1.Client)
	if !ok {
		return nil, p.fault("start", fmt.Errorf("%w: it serves tools, not a model family", ErrProtocol))
	}
	return f, nil
}

// set returns what a process serves as a set of tools.
func (p *process) set() (*toolv1.Client, error) {
	s, ok := p.served.(*toolv1.Client)
	if !ok {
		return nil, p.fault("start", fmt.Errorf("%w: it serves a model family, not tools", ErrProtocol))
	}
	return s, nil
}
