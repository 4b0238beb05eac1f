// Package weblab is a network that lies, for tests of what fetches pages.
//
// A test runs itself again in a network of its own, in which a name server and
// a web server do what hostile ones would: names are public when they are
// looked up and private when they are used, pages redirect to where they
// should not, or never end. Nothing of it can be reached from outside, and
// nothing outside from in it. It takes namespaces of Linux, and no rights.
package weblab
