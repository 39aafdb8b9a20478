package plugin

import "github.com/pooled/pooled/core/tool"

// Rights says what a set of tools can do, beside reading the project and answering.
type Rights struct {
	// Sandboxed says that what the tools run and serve reaches nothing but the project.
	Sandboxed bool
	// Write says that they can change files of the project, and Listen that they can serve on ports of this machine. Where
	// Sandboxed is false they can do both to whatever the user can.
	Write, Listen bool
}

// confinedRights are those of a set that comes with Pooled: the least that its tools need, by their classes.
func confinedRights(info tool.Info) Rights {
	r := Rights{Sandboxed: true}
	for _, t := range info.Tools {
		r.Write = r.Write || t.Class == tool.Edit
		r.Listen = r.Listen || t.Class == tool.Serve
	}
	return r
}

// droppedRights are those of a set that the user dropped in: a WebAssembly module reads the project and no more, a program
// does what the user can.
func droppedRights(path string) Rights {
	if isWasm(path) {
		return Rights{Sandboxed: true}
	}
	return Rights{Write: true, Listen: true}
}

// reach is what a process with the rights may touch for a project.
func (r Rights) reach(p tool.Project) *reach {
	to := &reach{read: []string{p.Root}, listen: r.Listen}
	if p.Cache != "" {
		to.write = append(to.write, p.Cache)
	}
	if r.Write {
		to.write = append(to.write, p.Root)
		if p.State != "" {
			to.write = append(to.write, p.State)
		}
	}
	return to
}

// reach is what a built-in set of tools may do, beside talking to its host. They hold on Linux with Landlock (5.13 and
// later), where the process then reads system libraries and what is named here, writes where it is said, and (on amd64
// and arm64) opens no network connection; from 6.12 on it cannot signal other processes either. It can still ask whether
// files exist, and use processor and memory.
//
// Other systems take nothing away: there, a set that is broken out of can do what the user can.
type reach struct {
	// read and write are folders; what can be written can be read.
	read, write []string
	// listen allows it to listen on TCP ports that the system picks.
	listen bool
}
