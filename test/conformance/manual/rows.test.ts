/** Every row of section 0 of the specification has a claim. */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const folder = new URL('../../../conformance/manual/', import.meta.url)

t.test('each of the rows 1 to 34 has a claim', (t) => {
  const sources = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  const rows = new Set(
    sources.flatMap((name) =>
      [...readFileSync(new URL(name, folder), 'utf8').matchAll(/page\.claim\((\d+),/g)].map(([, row]) => Number(row)),
    ),
  )
  const missing = Array.from({ length: 34 }, (_, i) => i + 1).filter((row) => !rows.has(row))
  t.strictSame(missing, [])
  t.end()
})
