package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// longest limits the length of an address in bytes. Servers reject longer addresses.
const longest = 8 << 10

// mostErrors limits the reported errors of one text.
const mostErrors = 10

// A BlockedError, always a *BlockedError, is the error for a valid address that is not
// fetched.
type BlockedError struct {
	URL string
	Why string // such as "a private address"
}

// Error names the address that is not fetched, and the reason.
func (b *BlockedError) Error() string { return fmt.Sprintf("%s is not fetched: %s", b.URL, b.Why) }

// Parse reads the address of a page, and returns it in one form for all ways to write it:
// the host in lower case and in ASCII, without the scheme's own port and without a fragment.
// If the address alone shows that it must not be fetched, the error is a [BlockedError].
func Parse(s string) (*url.URL, error) {
	if len(s) > longest {
		return nil, fmt.Errorf("the URL is longer than %d bytes", longest)
	}
	if strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r == '\\' || r == 0x7f ||
			r == unicode.ReplacementChar
	}) {
		return nil, fmt.Errorf("malformed URL: %q", s)
	}
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" {
		return nil, fmt.Errorf("malformed URL: %q", s)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("unsupported protocol in URL: %q", s)
	}
	if u.User != nil {
		return nil, fmt.Errorf("malformed URL: %q holds a user name, and what follows the @ is the host", s)
	}
	host, err := hostname(u.Hostname())
	if err != nil {
		return nil, fmt.Errorf("malformed URL: %q: %w", s, err)
	}
	port, err := portOf(u)
	if err != nil {
		return nil, fmt.Errorf("malformed URL: %q: %w", s, err)
	}
	clean := *u
	clean.Fragment, clean.RawFragment, clean.Host = "", "", bracketed(host)
	if port != "" {
		clean.Host = net.JoinHostPort(host, port)
	}
	if clean.Path == "/" && clean.RawQuery == "" {
		clean.Path, clean.RawPath = "", ""
	}
	if why := local(host); why != "" {
		return nil, &BlockedError{URL: clean.String(), Why: why}
	}
	if n, _ := strconv.Atoi(port); port != "" && n < 1024 {
		return nil, &BlockedError{URL: clean.String(), Why: fmt.Sprintf("port %s is another service's", port)}
	}
	return &clean, nil
}

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// hostname returns a host in the form that it is looked up by.
func hostname(host string) (string, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", errors.New("the address names a network interface")
		}
		return a.String(), nil
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) || strings.Contains(host, "xn--") {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", errors.New("the host is not a valid name")
		}
		host = strings.TrimSuffix(ascii, ".")
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", errors.New("the host is not a valid name")
		}
	}
	if len(host) > 253 {
		return "", errors.New("the host is not a valid name")
	}
	// A name that ends with a number is an IP address. Programs parse unusual forms
	// differently. ToASCII may have normalised other digits.
	if last := labels[len(labels)-1]; numeric(last) {
		if a, err := netip.ParseAddr(host); err == nil {
			return a.String(), nil
		}
		return "", errors.New("the address is not in its usual form, such as 192.0.2.1")
	}
	return host, nil
}

func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// portOf returns the port of u, or "" if it is the scheme's own.
func portOf(u *url.URL) (string, error) {
	p := u.Port()
	n, err := strconv.ParseUint(p, 10, 16)
	switch {
	case p == "":
		return "", nil
	case err != nil || n == 0:
		return "", errors.New("there is no such port")
	case n == 80 && u.Scheme == "http", n == 443 && u.Scheme == "https":
		return "", nil
	}
	return strconv.FormatUint(n, 10), nil
}

// local returns why the name of a host is not on the public web.
func local(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return private(a)
	}
	for _, zone := range []string{"localhost", "localdomain", "local", "internal", "home.arpa"} {
		if host == zone || strings.HasSuffix(host, "."+zone) {
			return "the name is one inside a network"
		}
	}
	return ""
}

// Find returns the addresses in a text, in their order and each once. An invalid or
// unsupported address is an error; blocked addresses are returned separately.
func Find(text string) (urls []*url.URL, blocked []*BlockedError, err error) {
	var errs []error
	seen := map[string]bool{}
	for _, token := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("<>\"`|", r)
	}) {
		s := candidate(token)
		if s == "" || seen[s] {
			continue
		}
		seen[s] = true
		u, err := Parse(s)
		b := (*BlockedError)(nil)
		switch {
		case errors.As(err, &b):
			if !seen["!"+b.URL] {
				seen["!"+b.URL] = true
				blocked = append(blocked, b)
			}
		case err != nil:
			if len(errs) < mostErrors {
				errs = append(errs, err)
			}
		case !seen["="+u.String()]:
			seen["="+u.String()] = true
			urls = append(urls, u)
		}
	}
	return urls, blocked, errors.Join(errs...)
}

// NamedHosts returns the hosts that a text names without a scheme, each once, in
// the form of [Parse]: names that begin with www, and names before a path. Who
// reads the text may take them for addresses.
func NamedHosts(text string) (hosts []string) {
	for _, token := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("<>\"'`|()[]{},;*", r)
	}) {
		if strings.Contains(token, "://") {
			continue
		}
		token = strings.TrimLeft(token, "/.:@") // also of //host
		end := strings.IndexAny(token, "/?#")
		if end < 0 {
			if end = len(token); !strings.HasPrefix(strings.ToLower(token), "www.") {
				continue
			}
		}
		host := token[strings.LastIndexByte(token[:end], '@')+1 : end]
		host, _, _ = strings.Cut(host, ":")
		host, err := hostname(strings.TrimRight(host, ".!"))
		last := host[strings.LastIndexByte(host, '.')+1:]
		if err == nil && len(last) > 1 && last != host && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// candidate returns the part of a word that may be an address: from its scheme on, without
// trailing punctuation.
func candidate(token string) string {
	i := strings.Index(token, "://")
	if i < 0 {
		return ""
	}
	start := i
	for start > 0 && schemeByte(token[start-1]) {
		start--
	}
	s := token[start:]
	const pairs = "()[]{}"
	var surplus [len(pairs) / 2]int // of closing brackets
	for i := range s {
		if b := strings.IndexByte(pairs, s[i]); b >= 0 {
			surplus[b/2] += 2*(b%2) - 1
		}
	}
	for {
		cut := strings.TrimRight(s, ".,;:!?'*。，、；：！？）」』")
		if cut != "" {
			if b := strings.IndexByte(pairs, cut[len(cut)-1]); b >= 0 && b%2 == 1 && surplus[b/2] > 0 {
				surplus[b/2]--
				cut = cut[:len(cut)-1]
			}
		}
		if len(cut) == len(s) {
			return s
		}
		s = cut
	}
}

func schemeByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
}

// UnicodeHost returns the host of u in Unicode, if that differs from its ASCII form. It may
// look like another host.
func UnicodeHost(u *url.URL) string {
	host := u.Hostname()
	if !strings.Contains(host, "xn--") {
		return ""
	}
	if own, err := idna.Display.ToUnicode(host); err == nil && own != host {
		return own
	}
	return host
}

// RawFileURL returns the address of the raw file if u is a file's page on GitHub, and else
// u.
func RawFileURL(u *url.URL) *url.URL {
	parts := strings.SplitN(strings.TrimPrefix(u.EscapedPath(), "/"), "/", 5)
	if host := u.Hostname(); host != "github.com" && host != "www.github.com" || len(parts) < 5 || parts[2] != "blob" {
		return u
	}
	raw, err := url.Parse("https://raw.githubusercontent.com/" + parts[0] + "/" + parts[1] + "/" +
		parts[3] + "/" + parts[4])
	if err != nil {
		return u
	}
	return raw
}
