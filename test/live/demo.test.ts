import t from 'tap'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { run } from '../support/up.js'

t.test('npm run demo prints the shards of the documents and of each query', async (t) => {
  const { code, stdout, stderr } = await run(process.execPath, [
    fileURLToPath(new URL('../demo/main.js', import.meta.url)),
  ])
  t.equal(code, 0, stderr)
  t.match(stdout, 'Loaded 42,049 postal codes')
  const held = [...stdout.matchAll(/^ {2}shard0\d +(\d+)/gm)].map(([, count]) => Number(count))
  t.equal(held.length, 3)
  t.equal(
    held.reduce((sum, count) => sum + count, 0),
    42_049,
    'the shards together hold all of it',
  )
  t.equal([...stdout.matchAll(/ {2}targeted, asked shard0\d {2}\(1 found/g)].length, 3)
  t.equal([...stdout.matchAll(/ {2}broadcast, asked shard01 shard02 shard03 {2}/g)].length, 3)

  // Shards, counts and the first document of a broadcast differ from run to run.
  const normalized = (line: string): string => line.replace(/shard0[1-3]( +\d+)?|█+|, first [^)]*/g, '#')
  const printed = new Set(stdout.split('\n').map(normalized))
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const shown = /```text\n([^]*?)```/.exec(readme)![1]!.trimEnd().split('\n')
  t.same(
    shown.filter((line) => !printed.has(normalized(line))),
    [],
    'the README shows lines of a real run',
  )
})
