// Package modelv1 is version 1 of the model contract on the wire: the messages and the service of model.proto, and a
// client and a server that turn them into a [model.Family].
//
// Everything that arrives is untrusted. Conversion checks every length and every number for its range; what a plan
// means is checked by [model.Plan.Check] afterwards.
package modelv1

//go:generate protoc -I ../../.. --go_out=../../.. --go_opt=paths=source_relative --go-grpc_out=../../.. --go-grpc_opt=paths=source_relative core/plugin/modelv1/model.proto

// Version is the version of the contract that this package speaks.
const Version = 1

// MaxMessage bounds a message in bytes, in both directions. The plan of a model with 126 layers takes 0.1 MiB.
const MaxMessage = 2 << 20
