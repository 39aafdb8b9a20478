package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin/modelv1"
	"github.com/pooled/pooled/core/plugin/protocol"
	"github.com/pooled/pooled/core/plugin/serve"
	"github.com/pooled/pooled/core/plugin/toolv1"
	"github.com/pooled/pooled/core/tool"
)

// The kinds of plugins, by what they extend.
const (
	// KindModels is the kind of plugins that are model families.
	KindModels = "models"
	// KindTools is the kind of plugins that are sets of tools.
	KindTools = "tools"
)

// kind is all that finding, approving, starting and listing know of a kind of plugins.
type kind struct {
	protocol.Kind
	// what says in words what a program of the kind serves.
	what string
	// wasm allows a plugin of the kind to be a WebAssembly module.
	wasm bool
	// fault is what an answer that breaks the contract wraps.
	fault error
	// greet asks a program who it is, in a version of the wire form.
	greet func(ctx context.Context, conn *grpc.ClientConn, version int) (served, error)
	// builtins are those that come with Pooled.
	builtins func(c *Catalog) []builtin
	// recall fills in what was recorded when a plugin was approved.
	recall func(e *Entry, a approval)
	// admit says why a plugin cannot be approved beside the others; nil admits all.
	admit func(c *Catalog, name string, a approval, others map[string]approval) error
	// opened hands a running program to its author.
	opened func(o *Opened, i *instance, s served)
}

// kinds is the table of the kinds of plugins: a further one is one more entry here and in package protocol.
var kinds = []*kind{models, tools}

var models = &kind{
	Kind: protocol.Models, what: "a model family", fault: model.ErrFault,
	greet: func(ctx context.Context, conn *grpc.ClientConn, _ int) (served, error) {
		c, err := modelv1.NewClient(ctx, conn)
		return servedFamily{c}, err
	},
	builtins: func(c *Catalog) []builtin {
		var list []builtin
		for _, f := range c.builtins {
			list = append(list, builtin{
				name: f.Info().Name, entry: Entry{Info: f.Info()}, serve: func() { serve.Family(f) },
			})
		}
		return list
	},
	recall: func(e *Entry, a approval) { e.Info = a.info() },
	opened: func(o *Opened, i *instance, s served) { o.Family, o.instance = family{i, s.(servedFamily).Info()}, i },
}

var tools = &kind{
	Kind: protocol.Tools, what: "tools", wasm: true, fault: tool.ErrFault,
	greet: func(ctx context.Context, conn *grpc.ClientConn, version int) (served, error) {
		c, err := toolv1.NewClient(ctx, conn, version)
		return servedTools{c}, err
	},
	builtins: func(c *Catalog) []builtin {
		var list []builtin
		for _, t := range c.options.Tools {
			list = append(list, builtin{
				name: t.Info().Name, entry: Entry{Tools: t.Info(), Rights: confinedRights(t.Info())}, serve: func() { serve.Tools(t) },
			})
		}
		return list
	},
	recall: func(e *Entry, a approval) { e.Info, e.Tools, e.Rights = a.info(), a.Tools, droppedRights(e.Path) },
	admit:  clash,
	opened: func(o *Opened, i *instance, s served) {
		i.close() // every session has a process of its own
		spec := i.spec
		spec.kind = s.kind()
		o.Tools = &toolSet{catalog: o.catalog, spec: spec, info: s.(servedTools).Info()}
	},
}

// builtin is a plugin that comes with Pooled.
type builtin struct {
	// name is its own, without the kind.
	name string
	// entry is what the list says of it.
	entry Entry
	// serve is the main function of the process that it runs in.
	serve func()
}

// served is what a program turned out to serve.
type served interface {
	kind() *kind
	// learn notes what the program says about itself.
	learn(a *approval)
}

type servedFamily struct{ *modelv1.Client }

func (servedFamily) kind() *kind { return models }

func (s servedFamily) learn(a *approval) {
	info := s.Info()
	a.Family, a.Architectures, a.Contract = info.Name, info.Architectures, info.Contract
}

type servedTools struct{ *toolv1.Client }

func (servedTools) kind() *kind { return tools }

func (s servedTools) learn(a *approval) { a.Tools, a.Contract = compact(s.Info()), s.Info().Contract }

// either is a program of which it is not said what it extends.
var either = anyOf(kinds)

// anyOf joins kinds to one that a program of any of them is of.
func anyOf(kinds []*kind) *kind {
	all := &kind{}
	var names, whats []string
	for _, k := range kinds {
		names, whats = append(names, k.Name), append(whats, k.what)
		all.Versions = append(all.Versions, k.Versions...)
		all.MaxMessage = max(all.MaxMessage, k.MaxMessage)
	}
	slices.Sort(all.Versions)
	all.Versions = slices.Compact(all.Versions)
	all.Name, all.what = strings.Join(names, " or "), strings.Join(whats, " or ")
	all.greet = func(ctx context.Context, conn *grpc.ClientConn, version int) (served, error) {
		err := status.Error(codes.Unimplemented, "it serves nothing that is known")
		for _, k := range kinds {
			if !slices.Contains(k.Versions, version) {
				continue
			}
			var s served
			if s, err = k.greet(ctx, conn, version); status.Code(err) != codes.Unimplemented {
				return s, err
			}
		}
		return nil, err
	}
	return all
}

// kindOf returns the kind of a name, of no name [either], and nil for a name that is none.
func kindOf(name string) *kind {
	if name == "" {
		return either
	}
	for _, k := range kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// kindNames lists the kinds for a message.
func kindNames() string {
	var names []string
	for _, k := range kinds {
		names = append(names, fmt.Sprintf("%q", k.Name))
	}
	return strings.Join(names, " and ")
}

// isFault reports whether an answer of a plugin breaks a contract.
func isFault(err error) bool {
	return slices.ContainsFunc(kinds, func(k *kind) bool { return errors.Is(err, k.fault) })
}

// servedAs returns what a process serves, which must be of a kind.
func servedAs[T served](p *process, k *kind) (T, error) {
	s, ok := p.served.(T)
	if !ok {
		return s, p.fault("start", fmt.Errorf("%w: it serves %s, not %s", ErrProtocol, p.served.kind().what, k.what))
	}
	return s, nil
}

// Serve serves what is built in under a name, such as "models/dense" or "tools/files": "plugin serve NAME" of the program
// that the catalog belongs to. It returns when the host is done with it.
//
// Errors: [ErrUnknown].
func (c *Catalog) Serve(name string) error {
	for _, k := range kinds {
		for _, b := range k.builtins(c) {
			if k.BuiltIn(b.name) == name {
				b.serve()
				return nil
			}
		}
	}
	return fmt.Errorf("%q: %w", name, ErrUnknown)
}

// builtin says how to start this program again as one of its own plugins.
func (c *Catalog) builtin(k *kind, name string) (spec, error) {
	self, err := c.self()
	name = k.BuiltIn(name)
	return spec{kind: k, name: name, path: self, args: []string{"plugin", "serve", name}, self: true}, err
}
