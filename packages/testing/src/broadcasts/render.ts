import type { BroadcastRow } from './rows.js'

/** One paragraph for each line of the application. */
export function textOf(rows: readonly BroadcastRow[]): string {
  if (rows.length === 0) return 'No operation was a broadcast.\n'
  return rows
    .map(
      (row) =>
        `${row.place}\n  ${row.command} on ${row.ns}: ${times(row.count)} to ${row.shards} shards; the shard key is ${row.shardKey}\n  ${adviceOf(row)}\n`,
    )
    .join('\n')
}

export function htmlOf(rows: readonly BroadcastRow[]): string {
  const cells = (row: BroadcastRow): string =>
    [row.place, row.command, row.ns, String(row.count), String(row.shards), row.shardKey, adviceOf(row)]
      .map((text) => `<td>${escaped(text)}</td>`)
      .join('')
  const heads = ['Line', 'Command', 'Collection', 'Count', 'Shards', 'Shard key', 'What would target it']
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Broadcasts</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; }
th, td { border: 1px solid #bbb; padding: 0.3rem 0.6rem; text-align: left; }
</style>
<h1>Broadcasts</h1>
<p>${rows.length === 0 ? 'No operation was a broadcast.' : 'Lines whose operations every shard had to answer.'}</p>
<table>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>
<tbody>
${rows.map((row) => `<tr>${cells(row)}</tr>`).join('\n')}
</tbody>
</table>
</html>
`
}

function adviceOf({ fields }: BroadcastRow): string {
  if (fields.length === 0) return 'No field has one value in every filter, so no shard key would target it.'
  return `A shard key that begins with ${fields.join(' or ')} would target it.`
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
