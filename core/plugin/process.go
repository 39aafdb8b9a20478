package plugin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pooled/pooled/core/plain"
	"github.com/pooled/pooled/core/plugin/protocol"
)

// grace is how long a program may take to end after it was asked to.
const grace = 500 * time.Millisecond

// spec says what to run.
type spec struct {
	kind *kind
	// name is how people call the plugin.
	name string
	path string
	args []string
	// sum is the SHA-256 that the plugin must have, in hex; empty for this program itself and for one that is only looked at.
	// With it, what runs is a private copy of bundle, kept in the plugin folder dir.
	sum    string
	bundle bundle
	dir    string
	// self marks this program itself, started again.
	self bool
	// rights are all that the program may do, where the system can see to it; nil takes nothing away.
	rights *reach
}

// process is a running plugin.
type process struct {
	spec   spec
	client *goplugin.Client
	child  *child
	served served // what the kind's greet returned
	output tail
	gone   chan struct{} // closed by close
	// run marks what the program started, and release gives the folder of its socket back.
	run     string
	release func()
	options Options
}

// start checks, starts and greets the program of s.
//
// A connection to this program itself goes without TLS where the socket is a Unix one: it lies in a folder that only this
// user can enter, so what TLS would keep out are processes of the same user, who can read the memory of either end
// anyway. Everybody else gets mutual TLS.
//
// Errors: [*Error]; [ErrChanged]; the context's.
func start(ctx context.Context, s spec, o Options) (*process, error) {
	if s.sum != "" {
		path, err := s.held()
		if err != nil {
			return nil, err
		}
		s.path = path
	}
	// The socket lies in the folder for temporary files; without it every plugin would seem broken.
	if i, err := os.Stat(os.TempDir()); err != nil || !i.IsDir() {
		return nil, fmt.Errorf("plugin %s needs the folder for temporary files, %s, which is not there: set TMPDIR to one that is", s.name, os.TempDir())
	}
	var config *tls.Config
	var env []string
	if !s.self || runtime.GOOS == "windows" {
		var certificate string
		var err error
		if config, certificate, err = hostTLS(); err != nil {
			return nil, err
		}
		env = []string{clientCert + "=" + certificate}
	}
	sockets, release, err := socketFolder()
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", s.name, err)
	}
	run := ""
	if !s.self { // what comes with Pooled starts nothing
		killOrphans()
		var own []string
		own, run = marks()
		env = append(env, own...)
	}
	p := &process{spec: s, options: o, run: run, release: release, child: &child{name: s.name, done: make(chan struct{})}, gone: make(chan struct{})}
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  protocol.Handshake(),
		VersionedPlugins: s.kind.Plugins(nil),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		TLSConfig:        config,
		SkipHostEnv:      true,
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: sockets},
		StartTimeout:     o.StartTimeout + time.Second, // ours, below, comes first
		Stderr:           &p.output,
		SyncStderr:       &p.output,
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions:  []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(s.kind.MaxMessage))},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			return p.child, p.child.prepare(s, append(cmd.Env, env...), dir)
		},
	})
	within, cancel := context.WithTimeout(ctx, o.StartTimeout)
	defer cancel()
	started := make(chan error, 1)
	go func() {
		// Linux ends the child with the thread that started it, so that thread stays.
		runtime.LockOSThread()
		_, err := p.client.Start()
		started <- err
		<-p.gone
	}()
	if err := p.greet(within, started); err != nil {
		late := within.Err() != nil
		p.close()
		if given := givenUp(ctx, within, err); given != nil {
			return nil, given
		}
		return nil, p.startError(err, late)
	}
	return p, nil
}

// givenUp returns an error when the caller's own context ended a call that ran under within, which is that context with
// our deadline. The other side may notice a deadline a moment before ctx does.
func givenUp(ctx, within context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	theirs, has := ctx.Deadline()
	if ours, _ := within.Deadline(); has && theirs.Equal(ours) && status.Code(err) == codes.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return nil
}

// greet waits for the program to listen, connects and asks who it is. When ctx ends the program is killed, which ends
// every step.
func (p *process) greet(ctx context.Context, started <-chan error) error {
	stop := context.AfterFunc(ctx, func() { _ = p.child.Kill(ctx) })
	defer stop()
	if err := <-started; err != nil {
		return err
	}
	client, err := p.client.Client()
	if err != nil {
		return err
	}
	conn, err := client.Dispense(protocol.Dispensed)
	if err != nil {
		return err
	}
	p.served, err = p.spec.kind.greet(ctx, conn.(*grpc.ClientConn), p.client.NegotiatedVersion())
	return err
}

// changed says that the program is not the one that was approved.
func (s spec) changed(sum string) error {
	return fmt.Errorf("plugin %s: %s has %w (SHA-256 is %.12s…, was %.12s…); if you changed it, run: pooled plugin approve %s",
		s.name, s.path, ErrChanged, sum, s.sum, s.name)
}

// startError says why the program did not come up. The first line that it printed tells more than go-plugin's error.
func (p *process) startError(err error, late bool) error {
	const doing = "start"
	switch code := status.Code(err); {
	case isFault(err), code == codes.Unimplemented, code == codes.ResourceExhausted, code == codes.Internal:
		// It answered, and we ended it for that.
		return p.callError(doing, err)
	}
	if !p.child.ran() {
		return p.fault(doing, fmt.Errorf("it cannot be run: %w", err))
	}
	if how := p.child.ended(); how != "" {
		return p.fault(doing, fmt.Errorf("%w (%s)", ErrCrashed, how))
	}
	line, _ := p.child.hello.get()
	fields := strings.Split(line, "|")
	switch {
	case late:
		return p.hung(doing)
	case line == "":
		return p.fault(doing, fmt.Errorf("%w: it closed its standard output without a greeting", ErrProtocol))
	case len(fields) < 5 || fields[0] != "1":
		return p.fault(doing, fmt.Errorf("%w: its first line is %q", ErrProtocol, plain.Line(line, 80)))
	}
	if v, bad := strconv.Atoi(fields[1]); bad != nil || !slices.Contains(p.spec.kind.Versions, v) {
		return p.fault(doing, fmt.Errorf("%w: it speaks version %s, this Pooled %v; get a build of it for this version",
			ErrVersion, plain.Line(fields[1], 20), p.spec.kind.Versions))
	}
	return p.callError(doing, err)
}

// callError says what became of a call: answers of the plugin itself are passed on, everything else is a fault.
func (p *process) callError(doing string, err error) error {
	if isFault(err) {
		return p.fault(doing, err)
	}
	st, isStatus := status.FromError(err)
	if !isStatus {
		if doing == "start" {
			return p.fault(doing, fmt.Errorf("%w: %s", ErrProtocol, plain.Line(err.Error(), 200)))
		}
		return err
	}
	msg := plain.Line(st.Message(), 300)
	switch st.Code() {
	case codes.DeadlineExceeded:
		return p.hung(doing)
	case codes.Unknown:
		// This is gRPC's word for an exception. Its trace takes another way than the answer, and the next one is not to show it again.
		p.output.settle()
		defer p.output.clear()
		return p.fault(doing, fmt.Errorf("%w: %s", ErrException, msg))
	case codes.Unavailable, codes.Canceled:
		if p.child.waitFor(grace) {
			if how := p.child.ended(); how != "" {
				return p.fault(doing, fmt.Errorf("%w (%s)", ErrCrashed, how))
			}
		}
		return p.fault(doing, fmt.Errorf("%w: the connection broke: %s", ErrProtocol, msg))
	case codes.Unimplemented:
		return p.fault(doing, fmt.Errorf("%w: it does not serve the kind %s", ErrProtocol, p.spec.kind.Name))
	case codes.ResourceExhausted:
		return p.fault(doing, fmt.Errorf("%w: a message of more than %d bytes: %s", ErrProtocol, p.spec.kind.MaxMessage, msg))
	case codes.Internal:
		return p.fault(doing, errors.New(msg))
	}
	return p.fault(doing, fmt.Errorf("%w: %s", ErrProtocol, msg))
}

// Things that plugins are asked to do, beside calls of tools, which go by their names.
const (
	doingPlan = "plan"
	doingOpen = "open the project"
)

// hung says which time has passed without an answer.
func (p *process) hung(doing string) error {
	limit := p.options.ToolTimeout
	switch doing {
	case "start":
		limit = p.options.StartTimeout
	case doingPlan, doingOpen:
		limit = p.options.CallTimeout
	}
	return p.fault(doing, fmt.Errorf("%w, which is %v", ErrHung, limit))
}

func (p *process) fault(doing string, err error) error {
	return &Error{Plugin: p.spec.name, Doing: doing, Err: err, Output: p.output.said()}
}

// close ends the program, by force after [grace], and waits until it is gone.
func (p *process) close() {
	defer close(p.gone)
	force := time.AfterFunc(grace, func() { _ = p.child.Kill(context.Background()) })
	defer force.Stop()
	p.client.Kill()
	if p.run != "" {
		killRun(p.run)
	}
	p.release()
}
