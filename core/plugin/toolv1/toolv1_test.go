package toolv1_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/pooled/pooled/core/plugin/tooltest"
	"github.com/pooled/pooled/core/plugin/toolv1"
	"github.com/pooled/pooled/core/tool"
)

// echo answers with its arguments, in every part of the result.
type echo struct{}

func (echo) Info() tool.Info {
	return tool.Info{Name: "echo", Contract: 1, Tools: []tool.Spec{{
		Name: "echo", Description: "Echo.", Class: tool.Edit, Previews: true, Parameters: json.RawMessage(`{"type":"object"}`),
	}}}
}

func (echo) Open(_ context.Context, p tool.Project) (tool.Session, error) {
	if p.Root == "" {
		return nil, errors.New("no \x1b[31mroot")
	}
	return echo{}, nil
}

func (echo) Close() error { return nil }

func (echo) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	c.Progress("half\nway")
	text := string(c.Arguments)
	return tool.Result{Text: text[:min(len(text), tool.MaxText)], Diff: "diff", Data: c.Arguments[:min(len(text), tool.MaxData)], IsError: c.DryRun}, nil
}

func TestParts(t *testing.T) {
	set, stop, err := tooltest.Wire(t.Context(), echo{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := set.Open(t.Context(), tool.Project{}); err == nil || err.Error() != "no \uFFFD[31mroot" {
		t.Errorf("Open: %v", err)
	}
	s, err := set.Open(t.Context(), tool.Project{Root: "/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 256 << 10, 256<<10 + 1, 5 << 20, tool.MaxArguments} {
		args := strings.Repeat("é", n/2+1)[:n]
		var progress []string
		r, err := s.Call(t.Context(), tool.Call{Name: "echo", Arguments: json.RawMessage(args), DryRun: n == 1, Progress: func(l string) { progress = append(progress, l) }})
		if err != nil || r.Text != args[:min(n, tool.MaxText)] || string(r.Data) != args[:min(n, tool.MaxData)] || r.Diff != "diff" || r.IsError != (n == 1) {
			t.Errorf("%d bytes: %d, %d, %q, %v", n, len(r.Text), len(r.Data), r.Diff, err)
		}
		if strings.Join(progress, ",") != "half\uFFFDway" {
			t.Errorf("progress %q", progress)
		}
	}
	if _, err := s.Call(t.Context(), tool.Call{Name: "echo", Arguments: make([]byte, tool.MaxArguments+1)}); err == nil {
		t.Error("arguments over the limit were taken")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Call(t.Context(), tool.Call{Name: "echo"}); err == nil {
		t.Error("a closed session answered")
	}
}

// modern uses all of version 2.
type modern struct{ echo }

func (modern) Info() tool.Info {
	return tool.Info{Name: "modern", Contract: 2, Prompt: []string{"Say hello."}, Tools: []tool.Spec{{
		Name: "put", Description: "Puts.", Class: tool.Edit, Does: tool.WritesFile, Reports: true,
		Roles:      tool.Roles{Path: "p", Content: "c", Brief: []string{"p", "c"}},
		Parameters: json.RawMessage(`{"type":"object","properties":{"p":{"type":"string"},"c":{"type":"string"}}}`),
	}}}
}

func (modern) Open(context.Context, tool.Project) (tool.Session, error) { return modern{}, nil }

func (modern) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Text: "put", Health: &tool.Health{Page: "index.html", Problems: []string{"no"}, URL: "http://x/"}}, nil
}

// TestVersions lets every version of one side talk to every version of the other. What version 2 added arrives where both
// speak it, and nowhere else.
func TestVersions(t *testing.T) {
	for _, c := range []struct{ server, client int }{
		{toolv1.Version1, toolv1.Version1}, {toolv1.Version1, toolv1.Version2}, {toolv1.Version2, toolv1.Version2},
	} {
		l := bufconn.Listen(1 << 20)
		server := grpc.NewServer()
		toolv1.Register(server, modern{}, c.server)
		go func() { _ = server.Serve(l) }()
		defer server.Stop()
		conn, err := grpc.NewClient("passthrough:x", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		set, err := toolv1.NewClient(t.Context(), conn, c.client)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		want, health := modern{}.Info(), true
		if c.server == toolv1.Version1 {
			want.Contract, want.Prompt, health = 1, nil, false
			spec := &want.Tools[0]
			spec.Does, spec.Roles, spec.Reports = "", tool.Roles{}, false
		}
		if got := set.Info(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: info\ngot  %+v\nwant %+v", c, got, want)
		}
		s, err := set.Open(t.Context(), tool.Project{Root: "/"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Call(t.Context(), tool.Call{Name: "put"})
		if err != nil || r.Text != "put" || (r.Health != nil) != health {
			t.Errorf("%+v: got %+v, %v; want a health %v", c, r, err, health)
		}
		if health && !reflect.DeepEqual(r.Health, &tool.Health{Page: "index.html", Problems: []string{"no"}, URL: "http://x/"}) {
			t.Errorf("%+v: health %+v", c, r.Health)
		}
	}
}

// liar is a server that does not keep to the contract.
type liar struct {
	toolv1.UnimplementedToolsServer
	info *toolv1.InfoResponse
	open *toolv1.OpenResponse
	call []*toolv1.CallResponse
}

func (l *liar) Info(context.Context, *toolv1.InfoRequest) (*toolv1.InfoResponse, error) {
	return l.info, nil
}

func (l *liar) Open(context.Context, *toolv1.OpenRequest) (*toolv1.OpenResponse, error) {
	return l.open, nil
}

func (l *liar) Call(s grpc.BidiStreamingServer[toolv1.CallRequest, toolv1.CallResponse]) error {
	for _, r := range l.call {
		if err := s.Send(r); err != nil {
			return err
		}
	}
	return nil
}

func TestLies(t *testing.T) {
	good := &toolv1.InfoResponse{Name: "x", Contract: 1, Tools: []*toolv1.Tool{{Name: "a", Description: "d", Class: "read", Parameters: []byte(`{"type":"object"}`)}}}
	opened := &toolv1.OpenResponse{Result: &toolv1.OpenResponse_Session{Session: 1}}
	text := func(n int) *toolv1.CallResponse {
		return &toolv1.CallResponse{Part: &toolv1.CallResponse_Text{Text: make([]byte, n)}}
	}
	var flood []*toolv1.CallResponse
	for range 10 {
		flood = append(flood, text(200<<10))
	}
	for _, c := range []struct {
		name string
		liar liar
	}{
		{"no info", liar{info: &toolv1.InfoResponse{}}},
		{"many tools", liar{info: &toolv1.InfoResponse{Name: "x", Contract: 1, Tools: make([]*toolv1.Tool, 100)}}},
		{"a role that names nothing", liar{info: &toolv1.InfoResponse{Name: "x", Contract: 2, Tools: []*toolv1.Tool{{
			Name: "a", Description: "d", Class: "read", Parameters: []byte(`{"type":"object"}`), Roles: &toolv1.Roles{Path: "p"},
		}}}}},
		{"a prompt that is a book", liar{info: &toolv1.InfoResponse{Name: "x", Contract: 2, Tools: good.Tools, Prompt: []string{strings.Repeat("x", 100_000)}}}},
		{"a bad class", liar{info: &toolv1.InfoResponse{Name: "x", Contract: 1, Tools: []*toolv1.Tool{{Name: "a", Description: "d", Parameters: []byte(`{"type":"object"}`)}}}}},
		{"no session", liar{info: good, open: &toolv1.OpenResponse{}}},
		{"no end", liar{info: good, open: opened, call: []*toolv1.CallResponse{text(1)}}},
		{"nothing", liar{info: good, open: opened}},
		{"an empty part", liar{info: good, open: opened, call: []*toolv1.CallResponse{{}}}},
		{"too much text", liar{info: good, open: opened, call: flood}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := bufconn.Listen(1 << 20)
			server := grpc.NewServer()
			toolv1.RegisterToolsServer(server, &c.liar)
			go func() { _ = server.Serve(l) }()
			defer server.Stop()
			conn, err := grpc.NewClient("passthrough:x", grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			client, err := toolv1.NewClient(t.Context(), conn, toolv1.Version2)
			var s tool.Session
			if err == nil {
				s, err = client.Open(t.Context(), tool.Project{Root: "/"})
			}
			if err == nil {
				_, err = s.Call(t.Context(), tool.Call{Name: "a"})
			}
			if !errors.Is(err, tool.ErrFault) {
				t.Errorf("got %v, want ErrFault", err)
			}
		})
	}
}
