package toolv1

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pooled/pooled/core/tool"
)

// maxSessions bounds what a host may open at once.
const maxSessions = 256

// Register serves s on r, in a version of the contract. A panic of a tool ends its call, not the process.
func Register(r grpc.ServiceRegistrar, s tool.Set, version int) {
	RegisterToolsServer(r, &server{set: s, version: version, sessions: map[uint64]tool.Session{}})
}

type server struct {
	UnimplementedToolsServer
	set     tool.Set
	version int

	mu       sync.Mutex
	last     uint64
	sessions map[uint64]tool.Session
}

// Info implements [ToolsServer].
func (s *server) Info(context.Context, *InfoRequest) (*InfoResponse, error) {
	return encodeInfo(s.set.Info(), s.version), nil
}

// recovered turns a panic into an error of the call.
func recovered(err *error) {
	if v := recover(); v != nil {
		fmt.Fprintf(os.Stderr, "panic: %v\n%s", v, debug.Stack())
		*err = status.Errorf(codes.Internal, "the tool panicked: %v", v)
	}
}

// Open implements [ToolsServer].
func (s *server) Open(ctx context.Context, r *OpenRequest) (w *OpenResponse, err error) {
	defer recovered(&err)
	opened, err := s.set.Open(ctx, tool.Project{Root: r.GetRoot(), State: r.GetState(), Cache: r.GetCache()})
	if err != nil {
		return &OpenResponse{Result: &OpenResponse_Refusal{err.Error()}}, nil
	}
	s.mu.Lock()
	full := len(s.sessions) >= maxSessions
	if !full {
		s.last++
		s.sessions[s.last] = opened
	}
	id := s.last
	s.mu.Unlock()
	if full {
		return &OpenResponse{Result: &OpenResponse_Refusal{"too many sessions are open"}}, opened.Close()
	}
	return &OpenResponse{Result: &OpenResponse_Session{id}}, nil
}

// Close implements [ToolsServer].
func (s *server) Close(_ context.Context, r *CloseRequest) (w *CloseResponse, err error) {
	defer recovered(&err)
	s.mu.Lock()
	opened := s.sessions[r.GetSession()]
	delete(s.sessions, r.GetSession())
	s.mu.Unlock()
	if opened != nil {
		err = opened.Close()
	}
	return &CloseResponse{}, err
}

// Call implements [ToolsServer].
func (s *server) Call(stream grpc.BidiStreamingServer[CallRequest, CallResponse]) (err error) {
	start, args, err := receiveCall(stream)
	if err != nil {
		return err
	}
	s.mu.Lock()
	opened := s.sessions[start.GetSession()]
	s.mu.Unlock()
	if opened == nil {
		return status.Errorf(codes.NotFound, "there is no session %d", start.GetSession())
	}
	out := &sender{stream: stream}
	r, err := call(stream.Context(), opened, tool.Call{
		Name: start.GetName(), Arguments: args, DryRun: start.GetDryRun(), Approved: start.GetApproved(), Progress: out.progress,
	})
	switch {
	case err != nil && stream.Context().Err() != nil:
		return status.FromContextError(stream.Context().Err()).Err()
	case status.Code(err) == codes.Internal:
		return err
	case err != nil:
		r = tool.Failed(err)
	}
	if s.version < Version2 {
		r.Health, r.Sum, r.Changes = nil, "", nil
	}
	return out.result(r)
}

// call calls the tool.
func call(ctx context.Context, s tool.Session, c tool.Call) (r tool.Result, err error) {
	defer recovered(&err)
	return s.Call(ctx, c)
}

// receiveCall puts the parts of a call together.
func receiveCall(stream grpc.BidiStreamingServer[CallRequest, CallResponse]) (*Start, json.RawMessage, error) {
	m, err := stream.Recv()
	if err != nil {
		return nil, nil, err
	}
	start := m.GetStart()
	if start == nil {
		return nil, nil, status.Error(codes.InvalidArgument, "a call begins with its start")
	}
	var args []byte
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return start, args, nil
		}
		if err != nil {
			return nil, nil, err
		}
		p := m.GetArguments()
		if len(p) == 0 || len(args)+len(p) > tool.MaxArguments {
			return nil, nil, status.Errorf(codes.InvalidArgument, "the arguments have an empty part or more than %d bytes", tool.MaxArguments)
		}
		args = append(args, p...)
	}
}

// sender sends parts; progress may come from several goroutines, and late.
type sender struct {
	mu     sync.Mutex
	stream grpc.ServerStreamingServer[CallResponse]
	done   bool
}

func (s *sender) progress(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		// A host that is gone shows in the result.
		_ = s.stream.Send(&CallResponse{Part: &CallResponse_Progress{valid(line, tool.MaxProgress)}})
	}
}

// result sends the parts of a result and the end.
func (s *sender) result(r tool.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	send := func(data []byte, wrap func([]byte) *CallResponse) error {
		for len(data) > 0 {
			n := min(len(data), part)
			if err := s.stream.Send(wrap(data[:n])); err != nil {
				return err
			}
			data = data[n:]
		}
		return nil
	}
	if err := send([]byte(r.Text), func(b []byte) *CallResponse { return &CallResponse{Part: &CallResponse_Text{b}} }); err != nil {
		return err
	}
	if err := send([]byte(r.Diff), func(b []byte) *CallResponse { return &CallResponse{Part: &CallResponse_Diff{b}} }); err != nil {
		return err
	}
	if err := send(r.Data, func(b []byte) *CallResponse { return &CallResponse{Part: &CallResponse_Data{b}} }); err != nil {
		return err
	}
	return s.stream.Send(&CallResponse{Part: &CallResponse_End{&End{
		IsError: r.IsError, Health: encodeHealth(r.Health), Sum: r.Sum, Changes: r.Changes,
	}}})
}

// valid makes s UTF-8, as a message must be, of at most n bytes.
func valid(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "\uFFFD") }
