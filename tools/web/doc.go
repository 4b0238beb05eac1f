// Package web fetches pages of the public web and makes text of them.
//
// # Only the public web
//
// What is fetched is at an address that everyone can reach. Names are not
// trusted to say where they lead: the address is looked at when the connection
// is made, of every connection, so that a name can't be one address when it is
// checked and another when it is used.
//
// # What was shown is what is fetched
//
// A redirect is followed as long as it stays on the host that was asked for.
// Where it leads to another, that is said, and whoever wants the page asks for
// it by its own address.
//
// # Bounded
//
// Time, size and the number of redirects have limits that hold for the whole of
// a page, after it is unpacked. Nothing is sent along that says who asks: no
// cookies, no credentials, no referrer.
package web
