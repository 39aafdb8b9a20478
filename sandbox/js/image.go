package js

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/pooled/pooled/core/atomicfile"
	"github.com/pooled/pooled/core/regular"
	"github.com/pooled/pooled/sandbox/js/qjs"
)

// bootStack is the stack while an image boots, before any limit of a program applies.
const bootStack = 512 << 10

// Source is a file that an Image runs at boot: a JavaScript function of one
// argument, the prelude's private host object.
type Source struct {
	Name, Code string
}

// Image is a booted machine from which sessions start. It never changes, so
// sessions may start from it concurrently.
type Image struct {
	snapshot *qjs.Snapshot
	control  qjs.Handle
}

// Size is the length of the memory image in bytes.
func (i *Image) Size() int { return len(i.snapshot.Memory) }

// Image boots a machine with the prelude and then the given sources, within
// memory bytes, or takes its image from the cache folder when the same sources were
// booted before. The clock stands still at zero meanwhile.
func (rt *Runtime) Image(ctx context.Context, memory uint32, sources ...Source) (*Image, error) {
	if rt.images == "" {
		return rt.boot(ctx, memory, sources)
	}
	name := filepath.Join(rt.images, "image-"+imageKey(sources)[:32])
	if image, err := readImage(name); err == nil {
		return image, nil
	}
	image, err := rt.boot(ctx, memory, sources)
	if err != nil {
		return nil, err
	}
	// A cache that cannot be written only costs time.
	_ = writeImage(name, image)
	return image, nil
}

func (rt *Runtime) boot(ctx context.Context, memory uint32, sources []Source) (*Image, error) {
	vm, err := rt.engine.New(ctx, qjs.Options{Memory: memory, Stack: bootStack}, qjs.Hooks{
		Now: func(monotonic bool) int64 {
			if monotonic {
				return 0
			}
			return epoch.UnixNano()
		},
	})
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	host, control, err := bootPrelude(vm)
	if err != nil {
		return nil, explainBoot(vm, err)
	}
	for _, s := range sources {
		h, err := applyPrelude(vm, host, s.Name, s.Code)
		if err != nil {
			return nil, fmt.Errorf("boot %s: %w", s.Name, explainBoot(vm, err))
		}
		vm.Free(h)
	}
	if err := vm.RunJobs(); err != nil {
		return nil, explainBoot(vm, err)
	}
	vm.CollectGarbage()
	snapshot, err := vm.Snapshot()
	if err != nil {
		return nil, err
	}
	return &Image{snapshot, control}, nil
}

// imageKey names an image by everything it is made of.
func imageKey(sources []Source) string {
	h := sha256.New()
	_, _ = io.WriteString(h, qjs.Version()+imageMagic)
	for _, name := range preludeOrder {
		b, _ := fs.ReadFile(preludeFiles, "prelude/"+name+".js")
		_, _ = h.Write(b)
	}
	for _, s := range sources {
		_, _ = fmt.Fprintf(h, "\x00%s\x00%s", s.Name, s.Code)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// An image file is imageMagic, five little-endian words (runtime, context, stack
// pointer, control handle, checksum of the memory), then the memory without its trailing zeros.
// Like the compiled code beside it, it is trusted because the folder is private.
const imageMagic = "pooled-image-1\n"

const imageWords = 5

func writeImage(name string, i *Image) error {
	memory := bytes.TrimRight(i.snapshot.Memory, "\x00")
	out := []byte(imageMagic)
	for _, w := range []uint32{
		i.snapshot.Runtime, i.snapshot.Context, i.snapshot.StackPointer, uint32(i.control), crc32.ChecksumIEEE(memory),
	} {
		out = binary.LittleEndian.AppendUint32(out, w)
	}
	return atomicfile.Write(name, out, memory)
}

// maxImage bounds an image's file: the memory of a machine, and little beside it.
const maxImage = 1 << 30

func readImage(name string) (*Image, error) {
	b, err := regular.Read(name, maxImage)
	if err != nil {
		return nil, err
	}
	return parseImage(b)
}

func parseImage(b []byte) (*Image, error) {
	rest, ok := bytes.CutPrefix(b, []byte(imageMagic))
	if !ok || len(rest) < 4*imageWords {
		return nil, errImage
	}
	var words [imageWords]uint32
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(rest[4*i:])
	}
	memory := rest[4*imageWords:]
	if crc32.ChecksumIEEE(memory) != words[4] {
		return nil, errImage
	}
	return &Image{
		snapshot: &qjs.Snapshot{Memory: memory, Runtime: words[0], Context: words[1], StackPointer: words[2]},
		control:  qjs.Handle(words[3]),
	}, nil
}
