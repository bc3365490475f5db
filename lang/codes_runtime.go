package lang

// runtimeCodeDocs are the pages of what only a build can meet: values that tasks wrote. Their places
// are in the campaign or in a prompt. No example shows them, since a campaign that check accepts has to
// run for one to come up.
var runtimeCodeDocs = []CodeDoc{
	{Code: "UFR101", Title: "Output cannot be read", Where: "build", Explanation: `
An expression takes the text or JSON of another task's output, and its bytes cannot be had from the store: a blob is
missing or damaged, or larger than what may be read into an expression (64 MiB). Give the path instead, or build again:
what is damaged is made again.`},
	{Code: "UFR102", Title: "Output is not the JSON its contract promises", Where: "build", Explanation: `
The document was accepted by its contract, but what an expression reads of it has another type than the schema says.
Close the schema (one type, additionalProperties: false), so that the contract refuses such a document.`},
	{Code: "UFR103", Title: "Expression fails on real values", Where: "build", Explanation: `
What the tasks before wrote does not fit the expression: an element that is not there, a function that refuses its
argument. Where the schema of the contract is open, check cannot see this before. Close the schema, or guard with try().`},
	{Code: "UFR104", Title: "when is not true or false", Where: "build", Explanation: `
The condition of a task came to something else. Compare explicitly: length(x) > 0 rather than x.`},
	{Code: "UFR105", Title: "Value still unknown", Where: "build", Explanation: `
An expression depends on a task that has not run although everything it waits for has. Please report it.`},
	{Code: "UFR106", Title: "Two items have one key", Where: "build", Explanation: `
The key of an expand names its instances, so it must tell items apart, also on a disk that ignores upper and lower case.
Let the contract of the list ask for it: unique = ["$.items.id"].`},
	{Code: "UFR107", Title: "Items are not a list", Where: "build", Explanation: `
items of an expand came to something that is not a list of objects. A closed schema finds this at check.`},
	{Code: "UFR108", Title: "More items than max_items", Where: "build", Explanation: `
The list has more items than max_items of the expand or max_dynamic_tasks of the campaign. Nothing is truncated: half of
a plan is not the plan. Raise the bound, or let the planner plan fewer and say so in its schema (maxItems).`},
	{Code: "UFR109", Title: "No items", Where: "build", Explanation: `
The list is empty and on_empty is "fail". With "proceed", the default, readers go on with no instances.`},
	{Code: "UFR110", Title: "Key cannot name an instance", Where: "build", Explanation: `
The key of an item is not text, or holds what a directory name cannot: a slash, a blank, a quote. Give items a plain id
and let the schema hold it to a pattern.`},
	{Code: "UFR111", Title: "Null in text", Where: "build", Explanation: `
A value that is null would go into a prompt, an argument or a variable. Test .exists or .ok first, or use coalesce().`},
	{Code: "UFR112", Title: "Value cannot be put into text", Where: "build", Explanation: `
A list or object would go into text. Use join(), jsonencode() or a %{ for } in the prompt.`},
	{Code: "UFR113", Title: "command is no list of strings", Where: "build", Explanation: `
command came to something else than a list of strings with at least one element.`},
	{Code: "UFR114", Title: "Not a map of strings", Where: "build", Explanation: `
env, vars or secrets came to something else than names and their values.`},
	{Code: "UFR115", Title: "Not the name of a variable", Where: "build", Explanation: `
A key of env is not the name of an environment variable: letters, digits and _, not beginning with a digit.`},
	{Code: "UFR116", Title: "Prompt is empty", Where: "build", Explanation: `
After rendering nothing is left of the prompt. An agent that is told nothing is paid for nothing.`},
	{Code: "UFR117", Title: "Secret outside secrets", Where: "build", Explanation: `
A sensitive value would reach a prompt, a command or a variable that is hashed and stored. Pass it in secrets.`},
	{Code: "UFR118", Title: "Output is not text", Where: "build", Explanation: `
.text of an output that is not UTF-8. Give its path to whoever reads it.`},
	{Code: "UFR199", Title: "Error that check reports", Where: "build", Explanation: `
The expression has an error that check finds; a campaign with errors is never built. Please report how you came here.`},
}
