// Package preset knows which model a request asks, and with which settings, by
// what the request is for.
//
// What a request is for has a name: that of a model, if it belongs to a
// conversation, or a purpose, such as classifier or web-fetch. A [Table] turns the
// name into a [Preset].
//
// # Aliases build on each other
//
// Each name is an alias that says what differs from the one it extends. A name that
// no alias has is a model's, and takes after its family. What the user sets in
// modelConfigs adds aliases, replaces them, and overrides what they come to.
//
// # A name leads to one model
//
// What a name stands for depends on the credential and on the settings, and is the same
// whoever asks: who chooses a model, who lists them, and what sends the request.
//
// # A purpose keeps its settings
//
// An alias may name a model by another alias, such as flash-lite. Which one that is
// depends on what the credential may use, and changes nothing but the name.
package preset
