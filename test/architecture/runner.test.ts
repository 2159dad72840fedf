/**
 * The runner of test files: several in one process without influence on each other, and every
 * failure reported for its file.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { findRoot } from './model/repository.js'

// Plain JavaScript: it must run before anything is installed or built.
const { runTestFiles } = (await import(pathToFileURL(join(findRoot(), 'scripts/lib/test-runner.mjs')).href)) as {
  readonly runTestFiles: (
    files: readonly string[],
    options: { jobs: number; timeoutSecs: number; env: Record<string, string>; onLine(line: string): void },
  ) => Promise<number>
}

const passes = "t.test('a', async (t) => t.pass())"

/** @returns the exit code, and for each file whether it was ok and its results */
async function outcomes(
  folder: string,
  sources: Readonly<Record<string, string>>,
): Promise<[code: number, lines: string[]]> {
  mkdirSync(folder, { recursive: true })
  const files = Object.entries(sources).map(([name, source]) => {
    const path = join(folder, `${name}.mjs`)
    writeFileSync(path, source.includes('// Own') ? source : `import t from 'tap'\n${source}\n`)
    return relative(findRoot(), path)
  })
  const lines: string[] = []
  const code = await runTestFiles(files, {
    jobs: 1,
    timeoutSecs: 1,
    env: {},
    onLine: (line) => {
      const [, indent, not, text] = /^( {4})?(not )?ok \d+ - (.*?)(?: # time=.*)?$/.exec(line) ?? []
      if (text !== undefined)
        lines.push(`${indent ?? ''}${not ?? ''}ok ${text.split(/[/\\]/).at(-1)!.replace('.mjs', '')}`)
    },
  })
  return [code, lines]
}

t.test('files share a process and its loaded modules, but not their tests', async (t) => {
  const counted = 'globalThis.files = (globalThis.files ?? 0) + 1\n'
  const [code, lines] = await outcomes(t.testdir(), {
    first: `${counted}${passes}\nt.teardown(() => { globalThis.isTornDown = true })\nt.end()`,
    second: `${counted}t.test(\`file \${globalThis.files}, \${globalThis.isTornDown}\`, async (t) => t.pass())`,
    alone: `// Own process: it says so.\n\nimport t from 'tap'\n${counted}t.test(\`file \${globalThis.files}\`, async (t) => t.pass())\n`,
    third: `${counted}t.test(\`file \${globalThis.files}\`, async (t) => t.pass())`,
  })
  t.equal(code, 0)
  t.strictSame(lines, [
    '    ok a',
    'ok first',
    '    ok file 2, true',
    'ok second',
    '    ok file 1',
    'ok alone',
    '    ok file 3',
    'ok third',
  ])
})

t.test('a file that fails in any way fails alone, and the next one has a new process', async (t) => {
  const [code, lines] = await outcomes(t.testdir(), {
    wrong: "t.test('a', async (t) => t.equal(1, 2, 'one'))",
    fine: passes,
    unloadable: "throw new Error('boom')",
    unhandled:
      "t.test('a', async (t) => { Promise.reject(new Error('nobody')); await new Promise(setImmediate); t.pass() })",
    waiting: "t.test('a', async () => { await new Promise(() => {}) })",
    hanging: "t.test('a', async () => { setInterval(() => {}, 1000); await new Promise(() => {}) })",
    exiting: "t.test('a', async (t) => { t.pass(); setImmediate(() => process.exit(0)); await new Promise(() => {}) })",
    coded: `process.exitCode = 3\n${passes}`,
    last: passes,
  })
  t.equal(code, 1)
  t.strictSame(
    lines.filter((line) => !line.startsWith(' ')),
    ['wrong', 'fine', 'unloadable', 'unhandled', 'waiting', 'hanging', 'exiting', 'coded', 'last'].map((name) =>
      name === 'fine' || name === 'last' ? `ok ${name}` : `not ok ${name}`,
    ),
  )
  t.strictSame(
    lines.filter((line) => line.startsWith('    not ok')),
    ['    not ok a', '    not ok boom', '    not ok nobody', '    not ok a', '    not ok a'],
  )
})
