// Package weblab is a hostile network for tests of fetches.
//
// A test runs itself again in its own network, with a hostile name server and web server:
// names change from public to private addresses between lookups, pages redirect to forbidden
// addresses, or never end. The network is isolated in both directions. It requires Linux
// namespaces, but no privileges.
package weblab
