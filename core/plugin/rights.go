package plugin

// rights are what a built-in set of tools may do, beside talking to its host. They hold on Linux with Landlock (5.13 and
// later), where the process then reads system libraries and what is named here, writes where it is said, and (on amd64
// and arm64) opens no network connection; from 6.12 on it cannot signal other processes either. It can still ask whether
// files exist, and use processor and memory.
//
// Other systems take nothing away: there, a set that is broken out of can do what the user can.
type rights struct {
	// read and write are folders; what can be written can be read.
	read, write []string
	// listen allows it to listen on TCP ports that the system picks.
	listen bool
}
