// Package web fetches pages of the public web and converts them to text. A first caller
// makes a [Fetcher] with [New].
//
// # Only the public web
//
// Only public addresses are fetched. Names are not trusted: the address of every connection
// is checked when the connection is made, so that a name can't change its address between
// check and use.
//
// # The shown address is the fetched address
//
// A redirect is followed only within the requested host. A redirect to another host is
// reported, and its page must be requested by its own address.
//
// # Bounded
//
// Time, unpacked size and redirects of a page are limited. A request does not identify the
// user: it has no cookies, credentials or referrer.
package web
