/**
 * `npm run bench -- <name> [--json]`: ratios and medians measured in one run. `page` instead of a
 * name writes those of all benches into the documentation, `compare REF` measures against another
 * commit.
 */
import { benches } from './benches.js'
import { runCompare } from './compare/command.js'
import { valueText } from './goals.js'
import { writePage } from './page/command.js'

// Children end with this process, but only if it ends by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

if (process.argv[2] === 'compare') process.exit(await runCompare(process.argv.slice(3)))
if (process.argv[2] === 'page') process.exit(await writePage(process.argv.slice(3)))

const json = process.argv.includes('--json')
const names = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const unknown = names.filter((name) => !Object.hasOwn(benches, name))
if (names.length === 0 || unknown.length > 0) {
  process.stderr.write(
    `bench: ${unknown.length > 0 ? `unknown bench ${unknown.join(', ')}` : 'name a bench'}; the benches are ${Object.keys(benches).join(', ')}; page runs all of them, compare REF measures this checkout against another commit.\n`,
  )
  process.exit(2)
}
for (const name of names) {
  const bench = await benches[name]!()
  const result = await bench.measure()
  if (json) process.stdout.write(`${JSON.stringify({ bench: name, ...result })}\n`)
  else
    process.stdout.write(
      `${result.title}\n\n${result.rows.map((row) => `  ${row.name.padEnd(48)} ${valueText(row).padStart(14)}  ${row.goal === undefined ? '' : `goal: ${row.goal}`}`).join('\n')}\n\n${result.note}\n`,
    )
}
