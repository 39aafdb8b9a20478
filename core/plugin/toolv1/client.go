package toolv1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pooled/pooled/core/plain"
	"github.com/pooled/pooled/core/tool"
)

// Client is a [tool.Set] on the other side of a connection. It is safe for concurrent use.
type Client struct {
	rpc     ToolsClient
	version int
	info    tool.Info
}

// NewClient asks the server who it is. Version is what both sides speak: what a later one added is not looked at.
//
// Errors: those of gRPC, and a [*tool.FaultError] for an answer without sense.
func NewClient(ctx context.Context, conn grpc.ClientConnInterface, version int) (*Client, error) {
	c := &Client{rpc: NewToolsClient(conn), version: version}
	w, err := c.rpc.Info(ctx, &InfoRequest{}, grpc.MaxCallRecvMsgSize(MaxInfo))
	if err != nil {
		return nil, err
	}
	if len(w.GetTools()) > tool.MaxTools {
		return nil, &tool.FaultError{Set: "without a name", Err: fmt.Errorf("it has %d tools; the limit is %d", len(w.GetTools()), tool.MaxTools)}
	}
	c.info = decodeInfo(w, version)
	if err := c.info.Check(); err != nil {
		return nil, &tool.FaultError{Set: plain.Line(c.info.Name, 64), Err: err}
	}
	return c, nil
}

// Info implements [tool.Set].
func (c *Client) Info() tool.Info { return c.info }

// Open implements [tool.Set].
//
// Errors: those of gRPC; what the set says.
func (c *Client) Open(ctx context.Context, p tool.Project) (tool.Session, error) {
	w, err := c.rpc.Open(ctx, &OpenRequest{Root: p.Root, State: p.State, Cache: p.Cache}, grpc.MaxCallRecvMsgSize(MaxMessage))
	if err != nil {
		return nil, err
	}
	switch r := w.GetResult().(type) {
	case *OpenResponse_Session:
		return &session{client: c, id: r.Session}, nil
	case *OpenResponse_Refusal:
		return nil, errors.New(plain.Line(r.Refusal, 500))
	}
	return nil, c.fault("it answered Open with neither a session nor a refusal")
}

func (c *Client) fault(format string, args ...any) error {
	return &tool.FaultError{Set: c.info.Name, Err: fmt.Errorf(format, args...)}
}

type session struct {
	client *Client
	id     uint64
}

// Call implements [tool.Session].
func (s *session) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream on every way out
	stream, err := s.client.rpc.Call(ctx, grpc.MaxCallRecvMsgSize(MaxMessage))
	if err != nil {
		return tool.Result{}, err
	}
	// What goes wrong in sending shows in receiving.
	send := func(r *CallRequest) bool { return stream.Send(r) == nil }
	ok := send(&CallRequest{Part: &CallRequest_Start{&Start{Session: s.id, Name: c.Name, DryRun: c.DryRun, Approved: c.Approved}}})
	for args := []byte(c.Arguments); ok && len(args) > 0; {
		n := min(len(args), part)
		ok = send(&CallRequest{Part: &CallRequest_Arguments{args[:n]}})
		args = args[n:]
	}
	if ok {
		_ = stream.CloseSend()
	}
	return s.receive(stream, c.Progress)
}

// receive puts the parts of a result together.
func (s *session) receive(stream grpc.ServerStreamingClient[CallResponse], progress func(string)) (tool.Result, error) {
	var text, diff, data []byte
	add := func(to *[]byte, what string, p []byte, limit int) error {
		if len(*to)+len(p) > limit {
			return s.client.fault("the %s of its result is longer than %d bytes", what, limit)
		}
		*to = append(*to, p...)
		return nil
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return tool.Result{}, s.client.fault("its answer has no end")
		}
		if err != nil {
			return tool.Result{}, err
		}
		switch p := m.GetPart().(type) {
		case *CallResponse_Progress:
			if progress != nil {
				progress(plain.Line(p.Progress, tool.MaxProgress))
			}
		case *CallResponse_Text:
			err = add(&text, "text", p.Text, tool.MaxText)
		case *CallResponse_Diff:
			err = add(&diff, "diff", p.Diff, tool.MaxText)
		case *CallResponse_Data:
			err = add(&data, "data", p.Data, tool.MaxData)
		case *CallResponse_End:
			r := tool.Result{Text: string(text), Diff: string(diff), Data: data, IsError: p.End.GetIsError()}
			if s.client.version >= Version2 {
				r.Health, r.Sum, r.Changes = decodeHealth(p.End.GetHealth()), p.End.GetSum(), p.End.GetChanges()
			}
			return r, nil
		default:
			err = s.client.fault("it sent an empty part of an answer")
		}
		if err != nil {
			return tool.Result{}, err
		}
	}
}

// CloseTimeout is how long a set may take to end what it started.
const CloseTimeout = 3 * time.Second

// Close implements [tool.Session].
func (s *session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), CloseTimeout)
	defer cancel()
	_, err := s.client.rpc.Close(ctx, &CloseRequest{Session: s.id})
	if status.Code(err) == codes.Unavailable || status.Code(err) == codes.Canceled {
		return nil // it is gone, and with it all that it held
	}
	return err
}
