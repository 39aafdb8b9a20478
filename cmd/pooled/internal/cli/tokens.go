package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/tokenizer"
)

// tokenizerOf opens the tokenizer of a model without loading it.
func (c *commands) tokenizerOf(ref string) (*tokenizer.Tokenizer, error) {
	f, _, err := c.assembly.Open(ref)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return vocabulary(f)
}

func vocabulary(f *gguf.File) (*tokenizer.Tokenizer, error) {
	v, err := tokenizer.FromMetadata(f.Get)
	if err != nil {
		return nil, err
	}
	return tokenizer.New(v)
}

func (c *commands) tokenize() *cobra.Command {
	var ref string
	var special, jsonl, addSpecial bool
	cmd := &cobra.Command{
		Use:   "tokenize",
		Short: "Turn text on standard input into token ids",
		Example: `  echo -n "Hello" | pooled tokenize -m my.gguf
  printf '"a"\n"b\\n"\n' | pooled tokenize --jsonl`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			t, err := c.tokenizerOf(ref)
			if err != nil {
				return err
			}
			opt := tokenizer.Options{ParseSpecial: special, AddSpecial: addSpecial}
			if !jsonl {
				text, err := c.Input()
				if err != nil {
					return err
				}
				return c.JSON(list(t.Encode(string(text), opt)))
			}
			return c.lines(func(line []byte) error {
				var text string
				if err := json.Unmarshal(line, &text); err != nil {
					return errors.New("want one JSON string a line")
				}
				return c.JSON(list(t.Encode(text, opt)))
			})
		},
	}
	cmd.Flags().StringVarP(&ref, "model", "m", nano.Name, "model whose vocabulary to use")
	cmd.Flags().BoolVar(&special, "special", false, "read the names of control tokens in the text as those tokens")
	cmd.Flags().BoolVar(&addSpecial, "add-special", false, "add begin and end tokens where the model wants them")
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "one JSON string a line in, one JSON array a line out")
	return cmd
}

func (c *commands) detokenize() *cobra.Command {
	var ref string
	var special, jsonl bool
	cmd := &cobra.Command{
		Use:     "detokenize",
		Short:   "Turn a JSON array of token ids on standard input into text",
		Example: `  echo "[39, 68, 297]" | pooled detokenize -m my.gguf`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			t, err := c.tokenizerOf(ref)
			if err != nil {
				return err
			}
			return c.lines(func(line []byte) error {
				var ids []int32
				if err := json.Unmarshal(line, &ids); err != nil {
					return errors.New("want one JSON array of token ids a line")
				}
				for _, id := range ids {
					if id < 0 || int(id) >= t.Size() {
						return fmt.Errorf("token %d is not in the vocabulary of %d", id, t.Size())
					}
				}
				text := t.Decode(ids, special)
				if jsonl {
					return c.JSON(text)
				}
				_, err := io.WriteString(c.Out, c.Shown(text))
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&ref, "model", "m", nano.Name, "model whose vocabulary to use")
	cmd.Flags().BoolVar(&special, "special", false, "write control tokens by their names")
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "print one JSON string a line")
	return cmd
}

// lines calls f with every line of the input that is not blank.
func (c *commands) lines(f func([]byte) error) error {
	sc := bufio.NewScanner(c.In)
	sc.Buffer(nil, console.MaxInput)
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		if err := f(sc.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return sc.Err()
}

// list keeps an empty array from being printed as null.
func list(ids []int32) []int32 {
	if ids == nil {
		return []int32{}
	}
	return ids
}

func (c *commands) template() *cobra.Command {
	var ref, file string
	cmd := &cobra.Command{
		Use:   "template",
		Short: "Render a chat template with JSON on standard input",
		Long: `Renders a model's chat template, or one from a file, exactly as the model would get it. The input is a JSON object
{messages, tools, documents, add_generation_prompt, kwargs, special_tokens, now}. Where it leaves them out, now is the
present, and special_tokens are those of the model. A template is code from a stranger: it runs in a sandbox with limits on
time and memory.`,
		Example: `  echo '{"messages":[{"role":"user","content":"hi"}]}' | pooled template -m my.gguf
  pooled template --template chat.jinja < conversation.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" && cmd.Flags().Changed("model") {
				return console.Usage("--model and --template were given; want one of them")
			}
			text, t, err := c.templateOf(cmd.Context(), ref, file)
			if err != nil {
				return err
			}
			in, err := c.Input()
			if err != nil {
				return err
			}
			out, err := chat.RenderJSON(cmd.Context(), c.assembly.Renderer(), text, chat.Complete(in, t, time.Now()))
			if err != nil {
				return err
			}
			_, err = io.WriteString(c.Out, c.Shown(out))
			return err
		},
	}
	cmd.Flags().StringVarP(&ref, "model", "m", nano.Name, "model whose template to use")
	cmd.Flags().StringVar(&file, "template", "", "file with the template")
	return cmd
}

// templateOf returns the template of a model with its tokenizer, or that of a file.
func (c *commands) templateOf(ctx context.Context, ref, file string) (string, *tokenizer.Tokenizer, error) {
	if file != "" {
		b, err := c.Named(ctx, file, console.MaxInput)
		return string(b), nil, err
	}
	f, name, err := c.assembly.Open(ref)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	text := tokenizer.ChatTemplate(f.Get)
	if text == "" {
		return "", nil, fmt.Errorf("%s: %w", name, chat.ErrNoTemplate)
	}
	t, err := vocabulary(f)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, t, nil
}
