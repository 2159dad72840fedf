/**
 * The guides about test runners and about stopping clusters: their files are written into a folder
 * of this repository, and their commands succeed there. A runner that is not installed is skipped.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const timeout = 120_000

interface Block {
  readonly language: string
  readonly code: string
  /** The first line names the file; null: it is a program of its own. */
  readonly file: string | null
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, 'docs/guides', page), 'utf8')
  return [...text.matchAll(/^```(js|python|sh|java|go)\n(.*?)^```$/gms)].map(([, language, code]) => ({
    language: language!,
    code: code!,
    file: /^(?:\/\/|#) (\S+\.\w+)\n/.exec(code!)?.[1] ?? null,
  }))
}

/** @param parent its packages and those of the repository may be imported */
function folder(t: Test, parent = root): string {
  const path = mkdtempSync(join(parent, '.guide-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

function run(
  cwd: string,
  program: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; output: string }> {
  // In a test of tap, tap would report to its parent; in one of node:test, node would as well.
  const { TAP: _tap, NODE_TEST_CONTEXT: _context, ...env } = process.env
  const child = spawn(program, args, {
    cwd,
    env: { ...env, PATH: searchPath, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

const clients = join(root, 'test/clients')
/** Debian's Python has the packages that scripts/install-clients.sh installs. */
const searchPath = isInstalledIn(process.env['PATH']!) ? process.env['PATH']! : `/usr/bin:${process.env['PATH']}`

function isInstalledIn(path: string): boolean {
  const env = { ...process.env, PATH: path }
  return spawnSync('python3', ['-c', 'import pytest, pymongo'], { env }).status === 0
}

const isInstalled: Readonly<Record<string, () => boolean>> = {
  vitest: () => existsSync(join(clients, 'node_modules/.bin/vitest')),
  pytest: () => isInstalledIn(searchPath),
  junit: () => jars.every((jar) => existsSync(jar)) && spawnSync('javac', ['-version']).status === 0,
  go: () => existsSync(join(goPath, 'src/go.mongodb.org/mongo-driver')) && spawnSync('go', ['version']).status === 0,
}
/** Debian's. */
const jars = [
  'mongo-java-driver',
  'bson',
  'junit-jupiter-api',
  'junit-platform-console-standalone',
  'apiguardian-api',
].map((name) => `/usr/share/java/${name}.jar`)
const goPath = '/usr/share/gocode'
/** What the tools of a language need to find the packages of Debian. */
const environments: Readonly<Record<string, (path: string) => NodeJS.ProcessEnv>> = {
  junit: () => ({ CLASSPATH: ['.', ...jars].join(':') }),
  go: (path) => ({ GO111MODULE: 'off', GOPATH: goPath, GOCACHE: join(path, 'cache'), GOFLAGS: '-p=2' }),
}
/** Go compiles a driver, which takes up to a minute; Vitest compiles each file in a new process. */
const slow: ReadonlySet<string> = new Set(['go', 'vitest'])

for (const [page, runner, files] of [
  ['node-test.md', null, 2],
  ['fixtures.md', null, 1],
  ['vitest.md', 'vitest', 4],
  ['pytest.md', 'pytest', 2],
  ['control.md', 'pytest', 2],
  ['junit.md', 'junit', 2],
  ['go.md', 'go', 2],
] as const) {
  const skip =
    runner === null
      ? false
      : !isInstalled[runner]!()
        ? `${runner} is not installed`
        : slow.has(runner) && process.env['SHARDLAB_LONG'] !== '1'
          ? `${runner} takes long: SHARDLAB_LONG=1 runs it`
          : false
  t.test(`the tests of the guide ${page} pass`, { timeout, skip }, async (t) => {
    const path = folder(t, runner === 'vitest' ? clients : root)
    const blocks = blocksOf(page)
    const named = blocks.filter(({ file }) => file !== null)
    t.equal(named.length, files)
    for (const { file, code } of named) writeFileSync(join(path, file!), code)
    for (const { code } of blocks.filter(({ language }) => language === 'sh')) {
      const { code: exitCode, output } = await run(path, 'sh', ['-ec', code], environments[runner ?? '']?.(path))
      t.equal(exitCode, 0, `${code}\n${output}`)
    }
  })
}

t.test('the programs of the guide about stopping clusters start and stop one', { timeout }, async (t) => {
  const path = folder(t)
  const programs: Readonly<Record<string, readonly string[]>> = {
    js: [process.execPath, '--input-type=module', '-e'],
    python: ['python3', '-c'],
    sh: ['sh', '-ec'],
  }
  const blocks = blocksOf('stop-clusters.md')
  t.same(
    blocks.map(({ language }) => language),
    ['js', 'python', 'sh'],
  )
  for (const { language, code } of blocks) {
    const [program, ...args] = programs[language]!
    if (spawnSync(program!, ['--version']).error !== undefined) continue
    // Ends when no process is left that has the output, so the cluster has ended too.
    const { code: exitCode, output } = await run(path, program!, [...args, code])
    t.match(output, /mongodb:\/\/127\.0\.0\.1:\d+\//, language)
    t.equal(exitCode, 0, `${language}: ${output}`)
  }
})
