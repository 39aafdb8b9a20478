//go:build unix

package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/plugin/modelv1"
	"github.com/pooled/pooled/core/plugin/protocol"
	"github.com/pooled/pooled/core/plugin/serve"
	"github.com/pooled/pooled/core/plugin/toolv1"
	"github.com/pooled/pooled/core/tool"
)

// The test binary stands for every program: for Pooled, which serves a built-in family when it is started again, and,
// through links to it with other names, for plugins that behave well and badly.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "plugin" && os.Args[2] == "serve" {
		if name, ok := strings.CutPrefix(os.Args[3], "tools/"); ok {
			set := toolSet{name: name, prefix: name + "_"}
			if name == "served" {
				set.prefix = ""
			}
			serve.Tools(set)
			return
		}
		serve.Family(family{name: strings.TrimPrefix(os.Args[3], "models/")})
		return
	}
	if name := filepath.Base(os.Args[0]); behaviours[name] != nil {
		behaviours[name]()
		return
	}
	code := m.Run()
	if left := children(os.Getpid()); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "child processes are left:", left)
		code = 1
	}
	os.Exit(code)
}

var behaviours = map[string]func(){
	"tools":       func() { serve.Tools(toolSet{name: "tools", prefix: "my_"}) },
	"tools-old":   func() { serveOld(toolSet{name: "tools-old", prefix: "old_"}) },
	"tools-bad":   func() { serve.Tools(toolSet{name: "tools-bad", prefix: "Not A Name "}) },
	"tools-two":   func() { serve.Tools(toolSet{name: "tools-two", prefix: "my_"}) },
	"tools-large": func() { serve.Tools(largeSet{}) },
	"good":        func() { serve.Family(family{name: "good", architecture: "good-arch"}) },
	"rival":       func() { serve.Family(family{name: "rival", architecture: "builtin-arch"}) },
	"restless":    func() { serve.Family(family{name: "restless-" + strconv.Itoa(os.Getpid())}) },
	"newer":       func() { serve.Family(family{name: "newer", contract: 99}) },
	"crash-start": func() {
		fmt.Fprintln(os.Stderr, "no luck today \x1b[31m")
		os.Exit(3)
	},
	"crash-plan": func() {
		serve.Family(family{name: "crash-plan", plan: func(context.Context, *model.Metadata) (*model.Plan, error) {
			os.Exit(4)
			return nil, nil
		}})
	},
	"panic-plan": func() {
		serve.Family(family{name: "panic-plan", plan: func(context.Context, *model.Metadata) (*model.Plan, error) {
			panic("out of cheese")
		}})
	},
	"environment": func() {
		serve.Family(family{name: "environment", plan: func(context.Context, *model.Metadata) (*model.Plan, error) {
			var names []string
			for _, e := range os.Environ() {
				name, _, _ := strings.Cut(e, "=")
				names = append(names, name)
			}
			slices.Sort(names)
			return nil, errors.New(strings.Join(names, " "))
		}})
	},
	"raises":     func() { serveRaiser() },
	"hang-start": func() { time.Sleep(time.Hour) },
	"hang-plan": func() {
		serve.Family(family{name: "hang-plan", plan: func(context.Context, *model.Metadata) (*model.Plan, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}})
	},
	"garbage": func() {
		fmt.Println("Hello, World! \x1b[2J")
		time.Sleep(time.Hour)
	},
	"flood": func() {
		for {
			fmt.Print(strings.Repeat("lorem ipsum ", 1000))
		}
	},
	"mute": func() {
		os.Stdout.Close()
		time.Sleep(time.Hour)
	},
	"wrong-version": func() {
		fmt.Println("1|9|unix|/tmp/socket|grpc|")
		time.Sleep(time.Hour)
	},
	"elsewhere": func() {
		fmt.Println("1|1|unix|/tmp/socket|grpc|")
		time.Sleep(time.Hour)
	},
	"deaf": func() {
		path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "deaf")
		if _, err := net.Listen("unix", path); err != nil {
			panic(err)
		}
		fmt.Printf("1|1|unix|%s|grpc|\n", path)
		time.Sleep(time.Hour)
	},
	"liar": func() {
		serve.Family(family{name: "liar", plan: func(context.Context, *model.Metadata) (*model.Plan, error) {
			p := tinyPlan("liar", "liar")
			p.Vocab, p.Tensors[0].Shape = 5, []int{5, 8} // one row more than the file has
			return p, nil
		}})
	},
	"terabyte": func() {
		serve.Family(family{name: "terabyte", plan: func(context.Context, *model.Metadata) (*model.Plan, error) {
			b := model.NewBuilder("terabyte", "terabyte", 8, 4, model.MaxContext)
			b.Embed(func(o *model.Ops, x model.Value) model.Value { return o.Embed(x, "w", 1) })
			for range 1000 {
				b.Layer(func(o *model.Ops, x model.Value) model.Value {
					q := o.Linear(x, "wide", 1024, 8)
					a := o.Attention(q, q, q, model.AttentionShape{Heads: 8, KVHeads: 8, KeyDim: 128, ValueDim: 128, Scale: 1})
					return o.Linear(a, "back", 8, 1024)
				})
			}
			b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "w", 4, 8) })
			return b.Plan(), nil
		}})
	},
	"huge": func() {
		serve.Family(family{name: "huge", plan: func(context.Context, *model.Metadata) (*model.Plan, error) {
			p := tinyPlan("huge", "huge")
			p.Tensors[0].Name = strings.Repeat("x", 3<<20)
			return p, nil
		}})
	},
	"parent": func() {
		// A grandchild that holds the output open would keep a careless host waiting.
		c := exec.Command("/proc/self/exe", "grandchild")
		c.Args[0] = "hang-start"
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			panic(err)
		}
		serve.Family(family{name: "parent", plan: func(context.Context, *model.Metadata) (*model.Plan, error) {
			return nil, fmt.Errorf("%d", c.Process.Pid)
		}})
	},
	"leaver": func() { leave("leaver") },
	"careless": func() {
		// A host that runs a dropped-in plugin, says what that left, and then waits to be killed.
		f, err := plugin.Open(context.Background(), os.Args[1], nil, plugin.Options{})
		if err != nil {
			panic(err)
		}
		_, err = f.Plan(context.Background(), tinyFile("leaver"))
		fmt.Println(err)
		time.Sleep(time.Hour)
	},
	"hub": func() {
		// A host that says which process serves it, and then waits to be killed.
		c := plugin.NewCatalog("", model.Families{family{name: "served"}}, plugin.Options{})
		f, err := c.Family(context.Background(), "served")
		if err != nil {
			panic(err)
		}
		_, err = f.Plan(context.Background(), pidRequest("served"))
		fmt.Println(err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		time.Sleep(time.Hour)
	},
}

// leave serves a family that starts a process which leaves its group and its session, and says its number.
func leave(name string) {
	c := exec.Command("/proc/self/exe", "grandchild")
	c.Args[0] = "hang-start"
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		panic(err)
	}
	serve.Family(family{name: name, plan: func(context.Context, *model.Metadata) (*model.Plan, error) {
		return nil, fmt.Errorf("%d", c.Process.Pid)
	}})
}

// serveOld serves tools as a program does that was built when there was but version 1.
func serveOld(s tool.Set) {
	old := protocol.Tools
	old.Versions = []int{toolv1.Version1}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  protocol.Handshake(),
		VersionedPlugins: old.Plugins(func(r grpc.ServiceRegistrar, version int) { toolv1.Register(r, s, version) }),
		GRPCServer:       goplugin.DefaultGRPCServer,
	})
}

// raiser is a family as gRPC in Python serves it whose code raises an exception for the architecture "raises": the trace goes to
// standard error, the text into a status that is Unknown.
type raiser struct {
	modelv1.UnimplementedFamilyServer
	calls atomic.Int32
}

func serveRaiser() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  protocol.Handshake(),
		VersionedPlugins: protocol.Models.Plugins(func(r grpc.ServiceRegistrar, _ int) { modelv1.RegisterFamilyServer(r, &raiser{}) }),
		GRPCServer:       goplugin.DefaultGRPCServer,
	})
}

func (*raiser) Info(context.Context, *modelv1.InfoRequest) (*modelv1.InfoResponse, error) {
	return &modelv1.InfoResponse{Name: "raises", Architectures: []string{"raises"}, Contract: 1}, nil
}

func (r *raiser) Plan(_ context.Context, q *modelv1.PlanRequest) (*modelv1.PlanResponse, error) {
	if len(q.GetMetadata().GetTensors()) == 0 {
		return &modelv1.PlanResponse{Result: &modelv1.PlanResponse_Refusal{Refusal: &modelv1.Refusal{Reason: strconv.Itoa(os.Getpid())}}}, nil
	}
	n := r.calls.Add(1)
	fmt.Fprintf(os.Stderr, "Exception calling application: sizes %[1]d\nTraceback (most recent call last):\n"+
		"  File \"/x/plan.py\", line %[1]d, in plan\n    raise ValueError(sizes)\nValueError: sizes %[1]d\n", n)
	return nil, status.Errorf(codes.Unknown, "Exception calling application: sizes %d", n)
}

// family is a family of one tiny model.
type family struct {
	name, architecture string
	contract           int
	plan               func(context.Context, *model.Metadata) (*model.Plan, error)
}

func (f family) Info() model.Info {
	info := model.Info{Name: f.name, Architectures: []string{f.architecture}, Contract: f.contract}
	if f.architecture == "" {
		info.Architectures = []string{f.name}
	}
	if f.contract == 0 {
		info.Contract = model.ContractVersion
	}
	return info
}

func (f family) Plan(ctx context.Context, md *model.Metadata) (*model.Plan, error) {
	switch {
	case f.plan != nil:
		return f.plan(ctx, md)
	case md.Values["pid"] == true:
		return nil, errors.New(strconv.Itoa(os.Getpid()))
	case len(md.Tensors) == 0:
		return nil, &model.MetadataError{Name: "w", Reason: "is missing", Unsupported: true}
	}
	return tinyPlan(f.name, md.Architecture), nil
}

// pidRequest asks a well-behaved family for its process number, which it gives as an error.
func pidRequest(architecture string) *model.Metadata {
	return &model.Metadata{Architecture: architecture, Values: map[string]any{"pid": true}}
}

// tinyFile is the metadata of the tiny model, tinyPlan its plan.
func tinyFile(architecture string) *model.Metadata {
	return &model.Metadata{
		Architecture: architecture,
		Values:       map[string]any{"general.architecture": architecture},
		Tensors:      map[string]model.TensorInfo{"w": {Type: "F32", Shape: []int{4, 8}}, "a": {Type: "F32", Shape: []int{8, 8}}},
	}
}

func tinyPlan(name, architecture string) *model.Plan {
	b := model.NewBuilder(name, architecture, 8, 4, 16)
	b.Embed(func(o *model.Ops, x model.Value) model.Value { return o.Embed(x, "w", 1) })
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		q := o.Linear(x, "a", 8, 8)
		return o.Attention(q, q, q, model.AttentionShape{Heads: 1, KVHeads: 1, KeyDim: 8, ValueDim: 8, Scale: 1})
	})
	b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "w", 4, 8) })
	return b.Plan()
}

// folder makes a plugin folder with a link to the test binary for each name.
func folder(t testing.TB, names ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// children returns the processes whose parent is pid, where /proc says so.
func children(pid int) []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []int
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found = append(found, child)
		}
	}
	return found
}

// waitGone fails the test unless the process ends soon.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for range 300 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// alive reports whether the process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	return !strings.HasPrefix(string(data[strings.LastIndexByte(string(data), ')')+1:]), " Z")
}

// approve approves a plugin as it is now.
func approve(t *testing.T, c *plugin.Catalog, name string) (plugin.Entry, error) {
	t.Helper()
	list, err := c.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Name == name {
			return c.Approve(t.Context(), name, e.SHA256)
		}
	}
	return c.Approve(t.Context(), name, "")
}
