package tooltest

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/pooled/pooled/core/plugin/toolv1"
	"github.com/pooled/pooled/core/tool"
)

// Wire returns s as seen through gRPC, in the newest version of the contract, with server and client in this process.
//
// Owns: the caller calls stop.
func Wire(ctx context.Context, s tool.Set) (through tool.Set, stop func() error, err error) {
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(toolv1.MaxMessage))
	toolv1.Register(server, s, toolv1.Version2)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:wire", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		server.Stop()
		return nil, nil, errors.Join(err, <-done)
	}
	stop = func() error {
		err := conn.Close()
		server.Stop()
		return errors.Join(err, <-done)
	}
	if through, err = toolv1.NewClient(ctx, conn, toolv1.Version2); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return through, stop, nil
}
