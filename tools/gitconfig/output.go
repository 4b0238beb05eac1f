package gitconfig

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"

	"gemline/engine/text"
)

// Output runs git in a repository with [QuietArgs], and returns what it prints. More than most bytes
// are an error.
func Output(ctx context.Context, dir string, most int, in []byte, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + dir}, args...)...)
	c.Env = append(Environ(QuietArgs...), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	c.Stdin, c.WaitDelay = bytes.NewReader(in), time.Second
	out, errs := bounded{most: most}, bounded{most: 4096}
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, text.OneLine(errs.buf.String(), 300))
	}
	if out.buf.Len() > most {
		return nil, fmt.Errorf("git %s: it says more than %d bytes", args[0], most)
	}
	return out.buf.Bytes(), nil
}

// A bounded buffer stores up to a limit, and one byte more if there are more. It accepts all
// bytes: a failed write would end git, even if git only prints a warning.
type bounded struct {
	buf  bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.buf.Write(p[:min(len(p), b.most+1-b.buf.Len())])
	return len(p), nil
}
