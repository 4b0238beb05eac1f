package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"gemline/engine/network"
	"gemline/engine/text"
	"gemline/tools/launch"
)

// A Hub is a server with git repositories, and releases by the GitHub API.
type Hub struct {
	Launcher  *launch.Launcher
	Network   network.Network
	API       string // the address of the API, "" for GitHub's
	Server    string // the server of the repositories, "" for GitHub
	Token     string // "" is none
	UserAgent string
}

const githubServer, githubAPI = "https://github.com", "https://api.github.com"

// ErrNoRelease means that a repository has no such release.
var ErrNoRelease = errors.New("there is no such release")

// A Release is a published package.
type Release struct {
	Tag    string `json:"tag_name"`
	Assets []struct {
		Name string `json:"name"`
		URL  string `json:"url"`
		Page string `json:"browser_download_url"`
	} `json:"assets"`
	Tarball string `json:"tarball_url"`
}

// Site returns the address of the server for browsers.
func (h Hub) Site() string { return cmp.Or(h.Server, githubServer) }

// Repository returns owner and name of the repository at an address on the server: https, or
// ssh in either of its forms.
func (h Hub) Repository(address string) (name string, ok bool) {
	for _, server := range []string{h.Site(), githubServer} {
		_, host, _ := strings.Cut(server, "://")
		for _, prefix := range []string{server + "/", "git@" + host + ":", "ssh://git@" + host + "/"} {
			if rest, found := strings.CutPrefix(address, prefix); found {
				rest = strings.TrimSuffix(strings.TrimSuffix(rest, "/"), ".git")
				return rest, strings.Count(rest, "/") == 1 &&
					url.PathEscape(strings.ReplaceAll(rest, "/", "")) == strings.ReplaceAll(rest, "/", "")
			}
		}
	}
	return "", false
}

// Release returns the release with a tag. Without a tag, it returns the latest release or,
// if early, the newest including pre-releases.
func (h Hub) Release(ctx context.Context, repository, tag string, early bool) (r Release, err error) {
	at := cmp.Or(h.API, githubAPI) + "/repos/" + repository + "/releases"
	switch {
	case tag != "":
		return r, h.ask(ctx, at+"/tags/"+url.PathEscape(tag), &r)
	case !early:
		return r, h.ask(ctx, at+"/latest", &r)
	}
	var list []Release
	if err := h.ask(ctx, at+"?per_page=1", &list); err != nil {
		return r, err
	}
	if len(list) == 0 {
		return r, ErrNoRelease
	}
	return list[0], nil
}

// Reach returns an error if there is neither a release nor a repository at an address.
func (h Hub) Reach(ctx context.Context, address string, early bool) error {
	if repository, ok := h.Repository(address); ok {
		if _, err := h.Release(ctx, repository, "", early); err == nil {
			return nil
		}
	}
	_, err := h.Commit(ctx, address, "")
	return err
}

// ask makes a request to the API.
func (h Hub) ask(ctx context.Context, address string, v any) error {
	const most = 10 << 20
	body, err := h.get(ctx, address, "application/vnd.github+json")
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, most)).Decode(v); err != nil {
		return fmt.Errorf("%s answers with something else: %w", address, err)
	}
	return nil
}

// get fetches a file. The token goes only to the server of the API.
func (h Hub) get(ctx context.Context, address, accept string) (io.ReadCloser, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("%.100q is no address of a package", address)
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", accept)
	q.Header.Set("User-Agent", h.UserAgent)
	if api, err := url.Parse(cmp.Or(h.API, githubAPI)); err == nil && h.Token != "" &&
		api.Scheme == u.Scheme && api.Host == u.Host {
		q.Header.Set("Authorization", "token "+h.Token)
	}
	client := http.Client{Transport: h.Network.Transport()}
	resp, err := client.Do(q)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusOK:
		return resp.Body, nil
	}
	resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		return nil, ErrNoRelease
	}
	return nil, fmt.Errorf("%s answers %s", text.PrintableLine(u.Host), text.PrintableLine(resp.Status))
}

// Download writes the files of a release into a directory, which must not exist yet.
func (h Hub) Download(ctx context.Context, r Release, to string) error {
	address, accept := r.asset(runtime.GOOS, runtime.GOARCH), "application/octet-stream"
	if address == "" {
		address, accept = r.Tarball, "application/vnd.github+json"
	}
	body, err := h.get(ctx, address, accept)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".gemline-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = errors.Join((&tally{}).copy(f, body), f.Close())
	if err != nil {
		return err
	}
	return unpackAs(f.Name(), address, to)
}

// asset returns the address of the archive for a system, "" if there is none.
func (r Release) asset(system, arch string) string {
	platform := map[string]string{"windows": "win32"}[system]
	platform = cmp.Or(platform, system)
	arch = cmp.Or(map[string]string{"amd64": "x64", "386": "ia32"}[arch], arch)
	address := func(i int) string { return cmp.Or(r.Assets[i].URL, r.Assets[i].Page) }
	for _, prefix := range []string{platform + "." + arch + ".", platform + "."} {
		for i, a := range r.Assets {
			if strings.HasPrefix(strings.ToLower(a.Name), prefix) {
				return address(i)
			}
		}
	}
	others := func(word string) bool { return strings.Contains(strings.ToLower(r.Assets[0].Name), word) }
	if len(r.Assets) == 1 && !slices.ContainsFunc([]string{"darwin", "linux", "win32"}, others) &&
		IsArchive(r.Assets[0].Name) {
		return address(0)
	}
	return ""
}
