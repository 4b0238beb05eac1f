// Package preset chooses the model and the settings of a request by the request's purpose.
//
// Each request has a name: a model's, if the request belongs to a conversation, or else a
// purpose, such as classifier or web-fetch. A [Table] turns the name into a [Preset].
//
// # Aliases build on each other
//
// Each name is an alias with its differences from the alias that it extends. A name without
// an alias is a model's, and extends the alias of the model's family. The user's modelConfigs
// add aliases, replace them, and override their results.
//
// # A name leads to one model
//
// The meaning of a name depends on the credential and on the settings. It is the same in the
// choice of a model, in lists of models, and in requests.
//
// # A purpose keeps its settings
//
// An alias may name a model by another alias, such as flash-lite. The meaning of the other
// alias depends on the models that the credential may use, and changes only the model's name,
// no settings.
package preset
