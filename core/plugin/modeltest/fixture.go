package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/pooled/pooled/core/model"
)

// File is the metadata of a model file under the name that results are reported by.
type File struct {
	Name     string
	Metadata *model.Metadata
}

// fixture is metadata as JSON: {"values": {key: value}, "tensors": {name: [type, dimension…]}}. A number without a point
// or an exponent is a whole number.
type fixture struct {
	Values  map[string]json.RawMessage   `json:"values"`
	Tensors map[string][]json.RawMessage `json:"tensors"`
}

// ReadDir reads every file *.json of a folder; each is reported by its name without the extension.
func ReadDir(dir string) ([]File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var files []File
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		md, err := ReadMetadata(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, File{Name: strings.TrimSuffix(filepath.Base(path), ".json"), Metadata: md})
	}
	return files, nil
}

// ReadMetadata reads metadata that [WriteMetadata] wrote.
func ReadMetadata(r io.Reader) (*model.Metadata, error) {
	var f fixture
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	md := &model.Metadata{Values: map[string]any{}, Tensors: map[string]model.TensorInfo{}}
	for key, raw := range f.Values {
		v, err := parseValue(raw)
		if err != nil {
			return nil, fmt.Errorf("metadata: %s: %w", key, err)
		}
		md.Values[key] = v
	}
	md.Architecture, _ = md.Values["general.architecture"].(string)
	for name, parts := range f.Tensors {
		var t model.TensorInfo
		for i, raw := range parts {
			var err error
			if i == 0 {
				err = json.Unmarshal(raw, &t.Type)
			} else {
				t.Shape = append(t.Shape, 0)
				err = json.Unmarshal(raw, &t.Shape[i-1])
			}
			if err != nil {
				return nil, fmt.Errorf("metadata: tensor %s: %w", name, err)
			}
		}
		md.Tensors[name] = t
	}
	return md, nil
}

// parseValue finds the type of [model.Metadata.Values] that fits.
func parseValue(raw json.RawMessage) (any, error) {
	if string(raw) == "null" {
		return nil, errors.New("there is no value")
	}
	for _, try := range []func() (any, error){
		into[int64](raw), into[float64](raw), into[bool](raw), into[string](raw),
		into[[]int64](raw), into[[]float64](raw), into[[]bool](raw), into[[]string](raw),
	} {
		if v, err := try(); err == nil {
			return v, nil
		}
	}
	return nil, fmt.Errorf("no value has the form %.40s", raw)
}

func into[T any](raw json.RawMessage) func() (any, error) {
	return func() (any, error) {
		var v T
		err := json.Unmarshal(raw, &v)
		return v, err
	}
}

// WriteMetadata writes md as indented JSON, for a plugin's test data. Numbers that JSON does not have are refused.
func WriteMetadata(w io.Writer, md *model.Metadata) error {
	f := fixture{Values: map[string]json.RawMessage{}, Tensors: map[string][]json.RawMessage{}}
	for key, v := range md.Values {
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("metadata: %s: %w", key, err)
		}
		if x, ok := v.(float64); ok && x == math.Trunc(x) && !bytes.ContainsAny(raw, ".e") {
			raw = append(raw, ".0"...)
		}
		f.Values[key] = raw
	}
	for name, t := range md.Tensors {
		typ, _ := json.Marshal(t.Type)
		parts := []json.RawMessage{typ}
		for _, d := range t.Shape {
			parts = append(parts, fmt.Append(nil, d))
		}
		f.Tensors[name] = parts
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(f); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	// One entry a line keeps differences readable.
	out := bytes.ReplaceAll(b.Bytes(), []byte(`],"`), []byte("],\n\""))
	out = bytes.ReplaceAll(out, []byte(`,"tensors":{`), []byte(",\n\"tensors\":{"))
	_, err := w.Write(out)
	return err
}
