package main

// languageNames is the part of the language page that no schema has. The script names.txtar holds it to
// what expressions really get.
const languageNames = `## Files

The nearest ` + "`campaign.hcl`" + ` upward from the working directory is the campaign; its directory is the root. It and every
` + "`*.campaign.hcl`" + ` beside it (or ` + "`*.campaign.hcl.json`" + `) are one namespace: neither the files nor the order of blocks
matter. All paths are relative to the root. Names are a lower-case letter and then letters, digits, ` + "`-` and `_`" + `.

## Limits

| what | at most |
|---|---|
| a campaign file | 4 MiB, brackets 200 deep |
| a prompt file | 256 KiB; 1,000 files that it includes, each counted as often as it is included |
| what ` + "`file()`" + ` reads, a schema, a sample | 16 MiB |
| an output whose text or JSON an expression reads | 64 MiB |
| a name | 63 characters |
| a key of ` + "`for_each` or `expand`" + `, the values of a matrix cell together | 120 bytes |
| loops of an instance; instances of a campaign | 1,000; 20,000 |

## Names in expressions

Arguments, and prompts between ` + "`${` and `}`" + `, may name the following. A reference to a task or group makes a
dependency; nothing else has to be declared for it.

| name | what it is |
|---|---|
| ` + "`var.NAME`, `local.NAME`" + ` | a variable, a local |
| ` + "`task.NAME`" + ` | the instance of a task that has one; with loops in series the last |
| ` + "`task.NAME[\"KEY\"]`" + ` | one instance of a task with ` + "`for_each`" + ` |
| ` + "`task.NAME.all`, `group.NAME.all`" + ` | the list of every instance: of any task, of all tasks of a group |
| ` + "`reference.NAME.path`, `.files`, `.commit`" + ` | where a reference lies in the workspace, where each of its paths does, its commit (null without one) |
| ` + "`self`" + ` | the instance itself: ` + "`name`, `id`, `key`, `outputs.NAME.path`, `outputs.NAME.contract`" + ` |
| ` + "`self.previous`" + ` | with ` + "`loop_mode = \"series\"`" + ` the instance before, null in the first |
| ` + "`each.key`, `each.value`" + ` | the element of ` + "`for_each`" + ` |
| ` + "`matrix.NAME`" + ` | the value of a matrix in this cell |
| ` + "`loop.index`, `loop.count`" + ` | which repetition, from 0, of how many |
| ` + "`item`" + ` | the element of ` + "`expand`" + `, with its fields |
| ` + "`vars.NAME`" + ` | in prompts: what the task sets in ` + "`vars`" + ` |
| ` + "`profile.NAME`, `pool.NAME`, `agent.NAME`, `contract.NAME`" + ` | in arguments that take one |

An instance has:

| attribute | what it is |
|---|---|
| ` + "`outputs.NAME.path`" + ` | where the output lies for the reader: ` + "`.uf/in/…`" + ` in its workspace, read-only |
| ` + "`outputs.NAME.text`" + ` | its bytes as text; null when it is absent |
| ` + "`outputs.NAME.json`" + ` | its document, for contracts of kind json and jsonl; null when it is absent. Its fields are checked against the schema |
| ` + "`outputs.NAME.exists`, `.digest`, `.contract`" + ` | whether it is there, the name of its bytes, the name of its contract |
| ` + "`ok`, `status`" + ` | whether it succeeded, and how it ended: both only matter for what is tolerated |
| ` + "`dir`" + ` | the directory that holds its outputs |
| ` + "`task`, `id`, `key`, `loop`" + ` | its task, its address, its key (null without one), its repetition |

Outputs of a task in ` + "`tolerate`" + ` may be absent: test ` + "`.ok` or `.exists`" + ` before ` + "`.json`, `.text` and `.path`" + `.

To write ` + "`${` or `%{`" + ` as text, as in a line of shell, double its first character: ` + "`$${HOME}`, `%%{http_code}`" + `.

## Addresses

` + "`NAME/KEY@CELL#LOOP`" + ` names an instance: ` + "`/KEY`" + ` of a ` + "`for_each` or `expand`, `@CELL`" + ` of a matrix, ` + "`#LOOP`" + ` where loops
are set. A target of a verb is an address or a task; a glob over addresses, in quotes (` + "`'hunt/*#0'`" + `);
` + "`group.NAME`, `tag:NAME`, `@failed`, `@stale`" + `; or an output, as ` + "`:out/report/report.md`" + `.

## Prompts

A prompt file is a template: besides ` + "`${…}`" + ` it knows ` + "`%{ if CONDITION }…%{ else }…%{ endif }`, `%{ for X in LIST }…%{ endfor }`" + `
(a ` + "`~`" + ` before the closing brace drops the line break that follows) and ` + "`${include(\"partials/x.md\")}`" + `, a file beside the
prompt, below ` + "`prompts/`" + ` or below the root. Lines between ` + "`---`" + ` at its start may give ` + "`id` and `display_name`" + `; they
are not sent. What tasks wrote is put in as it is and is no template.

## Blocks

The phase says when a value must be known: **L** is written out in the text, **S** is a direct reference to a
declaration, **P** may be computed before anything runs (from variables, locals, each, matrix, loop and functions),
**R** may use what other tasks wrote. *Manifest* says whether a change of the argument can make results stale;
everything else is free to edit.

`
