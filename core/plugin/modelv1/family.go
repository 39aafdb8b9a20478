package modelv1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plain"
)

// Client is a [model.Family] on the other side of a connection. It is safe for concurrent use.
type Client struct {
	rpc  FamilyClient
	info model.Info
}

// NewClient asks the server who it is.
//
// Errors: those of gRPC, and a [*model.FaultError] for an answer without sense.
func NewClient(ctx context.Context, conn grpc.ClientConnInterface) (*Client, error) {
	c := &Client{rpc: NewFamilyClient(conn)}
	w, err := c.rpc.Info(ctx, &InfoRequest{}, grpc.MaxCallRecvMsgSize(MaxMessage))
	if err != nil {
		return nil, err
	}
	if c.info, err = decodeInfo(w); err != nil {
		return nil, &model.FaultError{Family: "without a name", Err: err}
	}
	return c, nil
}

// Info implements [model.Family].
func (c *Client) Info() model.Info { return c.info }

// Plan implements [model.Family]. The plan is not checked yet.
//
// Errors: as [model.Family]; those of gRPC; a [*model.FaultError] for a plan that is no plan.
func (c *Client) Plan(ctx context.Context, md *model.Metadata) (*model.Plan, error) {
	w, err := encodeMetadata(md)
	if err != nil {
		return nil, err
	}
	req := &PlanRequest{Metadata: w}
	if n := proto.Size(req); n > MaxMessage {
		return nil, fmt.Errorf("the file's metadata takes %d bytes without the vocabulary, a plugin gets at most %d", n, MaxMessage)
	}
	resp, err := c.rpc.Plan(ctx, req, grpc.MaxCallRecvMsgSize(MaxMessage))
	if err != nil {
		return nil, err
	}
	switch r := resp.GetResult().(type) {
	case *PlanResponse_Plan:
		p, err := decodePlan(r.Plan)
		if err != nil {
			return nil, &model.FaultError{Family: c.info.Name, Err: err}
		}
		return p, nil
	case *PlanResponse_Refusal:
		return nil, refusalError(r.Refusal)
	}
	return nil, &model.FaultError{Family: c.info.Name, Err: errors.New("it answered with neither a plan nor a refusal")}
}

// refusalError is the inverse of refusal.
func refusalError(r *Refusal) error {
	name, reason := plain.Line(r.GetName(), maxName), plain.Line(r.GetReason(), maxReason)
	if reason == "" {
		reason = "refused without a reason"
	}
	if name != "" {
		return &model.MetadataError{Name: name, Reason: reason, Unsupported: r.GetUnsupported()}
	}
	if r.GetUnsupported() {
		return fmt.Errorf("%s: %w", reason, model.ErrUnsupported)
	}
	return errors.New(reason)
}

// refusal turns a family's error into its wire form.
func refusal(err error) *Refusal {
	unsupported := errors.Is(err, model.ErrUnsupported)
	if e, ok := errors.AsType[*model.MetadataError](err); ok {
		return &Refusal{Name: e.Name, Reason: e.Reason, Unsupported: unsupported}
	}
	reason := err.Error()
	if unsupported {
		reason = strings.TrimSuffix(reason, ": "+model.ErrUnsupported.Error())
	}
	return &Refusal{Reason: plain.Line(reason, maxReason), Unsupported: unsupported}
}

// Register serves f on s.
func Register(s grpc.ServiceRegistrar, f model.Family) {
	RegisterFamilyServer(s, &server{family: f})
}

// server serves a family.
type server struct {
	UnimplementedFamilyServer
	family model.Family
}

// Info implements [FamilyServer].
func (s *server) Info(context.Context, *InfoRequest) (*InfoResponse, error) {
	info := s.family.Info()
	return &InfoResponse{Name: info.Name, Architectures: info.Architectures, Contract: int32(info.Contract)}, nil
}

// Plan implements [FamilyServer]. A panic of the family ends the call, not the process.
func (s *server) Plan(ctx context.Context, req *PlanRequest) (resp *PlanResponse, err error) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", v, debug.Stack())
			resp, err = nil, status.Errorf(codes.Internal, "the family panicked: %v", v)
		}
	}()
	md, err := decodeMetadata(req.GetMetadata())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	p, err := s.family.Plan(ctx, md)
	switch {
	case err != nil:
		return &PlanResponse{Result: &PlanResponse_Refusal{refusal(err)}}, nil
	case p == nil:
		return nil, status.Error(codes.Internal, "the family returned neither a plan nor an error")
	}
	return &PlanResponse{Result: &PlanResponse_Plan{encodePlan(p)}}, nil
}
