import { faultForms } from '@shardlab/cluster'
import { CommanderError } from 'commander'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { checkWritable } from '../src/commands/output-file.js'
import { simulate } from '../src/commands/simulate.js'
import type { SimulateOptions } from '../src/commands/simulate-options.js'
import { progressLines } from '../src/commands/simulate-line.js'
import { createProgram } from '../src/program.js'

const nothing = async (): Promise<void> => {}
const runners = {
  up: nothing,
  host: nothing,
  load: nothing,
  fault: nothing,
  member: nothing,
  rollbackFiles: nothing,
  copy: nothing,
  unique: nothing,
  dashboard: nothing,
  events: nothing,
  explainBalance: nothing,
  simulate: nothing,
  swarm: nothing,
  worker: nothing,
  watch: nothing,
  which: nothing,
  doctor: nothing,
}

async function helpOf(...args: string[]): Promise<string> {
  let text = ''
  const program = createProgram(runners)
  for (const command of [program, ...program.commands]) command.configureOutput({ writeOut: (part) => (text += part) })
  await t.rejects(program.parseAsync([...args, '--help'], { from: 'user' }), CommanderError)
  return text
}

t.test('the help of every command has its exit codes, and examples that are parsed', async (t) => {
  const names = createProgram(runners).commands.map((command) => command.name())
  const first = await helpOf()
  for (const name of names) {
    const help = await helpOf(name)
    t.match(help, /^Exit codes:\n {2}0 {4}.+\n(?: {2}.+\n)*? {2}2 {4}.*wrong usage/m, name)
    t.match(help, new RegExp(`^Examples:\n  shardlab ${name} `, 'm'), name)
    t.match(first, new RegExp(`^  ${name} \\[`, 'm'))
  }
  for (const help of [first, ...(await Promise.all(names.map((name) => helpOf(name))))])
    for (const [, line = ''] of help.matchAll(/^  shardlab (.+?)(?: {2,}.+)?$/gm)) {
      const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
        ([, single, double, plain]) => single ?? double ?? plain!,
      )
      await t.resolves(createProgram(runners).parseAsync(words, { from: 'user' }), line)
    }
})

t.test('the help of fault lists every form of the table of verbs, in its order', async (t) => {
  const help = await helpOf('fault')
  const listed = /^Faults:\n((?:  .*\n)+)/m.exec(help)![1]!
  t.same(
    listed
      .trimEnd()
      .split('\n')
      .map((line) => line.trim()),
    faultForms,
  )
})

t.test('simulate takes variants before and after the scenario', async (t) => {
  const seen: [string | undefined, SimulateOptions][] = []
  const program = createProgram({
    ...runners,
    simulate: async (scenario, options) => void seen.push([scenario, options]),
  })
  await program.parseAsync(['simulate', '--variant', 'a b', 'growth.yaml', '--variant', 'c'], { from: 'user' })
  t.same(seen, [['growth.yaml', { variant: ['a b', 'c'] }]])
})

t.test('an output file that cannot be written is an error before anything runs', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-commands-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'scenario.yaml')
  writeFileSync(
    file,
    `version: 1
policy: ./none.mjs
cluster: { shards: 2 }
collections: [{ ns: shop.orders, key: { customer: 1 } }]
duration: 1m
`,
  )
  writeFileSync(join(folder, 'none.mjs'), "throw new Error('none.mjs is no policy')")
  checkWritable(join(folder, 'new'))
  checkWritable(file)
  const wrong: [string, string][] = [
    [join(folder, 'none', 'x'), 'ENOENT'],
    [join(file, 'x'), 'ENOTDIR'],
    [join(file, 'x', 'y'), 'ENOTDIR'],
    [join(folder, 'x'.repeat(300)), 'ENAMETOOLONG'],
    [folder, 'EISDIR'],
  ]
  for (const [path, code] of wrong) {
    const expected = { name: 'OptionError', message: `${path} cannot be written: ${code}.` }
    t.throws(() => checkWritable(path), expected)
    for (const options of [{ report: path }, { json: path }]) await t.rejects(simulate(file, options), expected)
  }
  await t.rejects(simulate(file, { allowCode: true }), /none\.mjs is no policy/, 'without output files')
})

t.test('simulate runs the module of a policy with --allow-code only', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-commands-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const mark = join(folder, 'ran')
  writeFileSync(join(folder, 'code.mjs'), `(await import('node:fs')).writeFileSync(${JSON.stringify(mark)}, '')`)
  const file = join(folder, 'scenario.yaml')
  writeFileSync(
    file,
    `version: 1
cluster: { shards: 2 }
collections: [{ ns: shop.orders, key: { customer: 1 } }]
duration: 1m
variants: [{ name: server }, { name: own, policy: ./code.mjs }]
`,
  )
  await t.rejects(simulate(file, {}), {
    name: 'OptionError',
    message: `the policy ${join(folder, 'code.mjs')} is code that would run with your rights: read it, and allow it by --allow-code or allowCode.`,
  })
  t.notOk(existsSync(mark))
})

t.test('without a terminal, a long simulation prints a line a minute', (t) => {
  const printed: string[] = []
  let nowMs = 5000
  const show = progressLines(
    (text) => printed.push(text),
    () => nowMs,
  )
  for (let i = 1; i <= 40; i++) {
    nowMs += 5000
    show({ variant: 'hashed', share: i / 40 })
  }
  t.same(printed, ['30% after 60 s, hashed', '60% after 120 s, hashed', '90% after 180 s, hashed'])
  t.end()
})

t.test('a variant or scenario with a similar name is suggested', async (t) => {
  for (const [scenario, options, message] of [
    [
      'same-id-twice',
      { variant: ['anoter key'] },
      'same-id-twice has no variant anoter key; did you mean another key?',
    ],
    ['same-id-twice', { variant: ['x'] }, /^same-id-twice has no variant x; use one of another key, _id as key\.$/],
    [
      'same-id-twyce',
      {},
      'there is no scenario file same-id-twyce, and no scenario of the library has that name; did you mean same-id-twice?',
    ],
  ] as const)
    await t.rejects(simulate(scenario, options as unknown as SimulateOptions), { name: 'OptionError', message })
})
