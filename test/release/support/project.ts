/** Empty projects into which the tests install what `npm run release -- --dry-run` builds. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { run } from '../../support/up.js'

export const root = fileURLToPath(new URL('../../../../', import.meta.url))
const clients = join(root, 'test', 'clients', 'node_modules')

/** The path of a package that `scripts/install-clients.sh` installs; null: not here. */
export const client = (name: string): string | null => (existsSync(join(clients, name)) ? join(clients, name) : null)

/** Versions of Node.js, each with its program; null: not installed here. */
export const nodes: readonly [version: string, path: string | null][] = [
  [process.version, process.execPath],
  ...(['node22', 'node24'] as const).map((name): [string, string | null] => {
    const folder = client(name)
    return [name, folder === null ? null : join(folder, 'bin', 'node')]
  }),
]

export const missing = (name: string): string => `${name} is not installed in test/clients`

/** Builds one package, until the test ends. @throws Error with the output of the script */
export async function builtTarball(t: Test, name: 'shardlab' | 'unique' | 'testing'): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-release-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const script = join(root, 'scripts', 'release.mjs')
  const args = [script, '--dry-run', `--only=${name}`, `--out=${folder}`]
  const { code, stdout, stderr } = await run(process.execPath, args)
  if (code !== 0) throw new Error(`${stdout}\n${stderr}`)
  return stdout.trim()
}

export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'shardlab-project-'))

  constructor() {
    this.write('package.json', '{ "private": true }')
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    writeFileSync(join(this.folder, path), text)
  }

  /** From npm's cache, else from its registry. @returns the reason if neither has them */
  async install(tarball: string): Promise<string | null> {
    let reason = ''
    for (const from of ['--offline', '--prefer-offline']) {
      const args = ['install', from, '--no-audit', '--no-fund', '--no-progress', '--fetch-retries=0', tarball]
      const { code, stderr } = await run('npm', args, { cwd: this.folder })
      if (code === 0) return null
      reason = stderr
    }
    return `the dependencies are neither in npm's cache nor in its registry: ${reason.trim().split('\n').at(0)}`
  }

  /** Without npm and without the tarball's dependencies. */
  async unpack(tarball: string, name: string): Promise<void> {
    const target = join(this.folder, 'node_modules', name)
    mkdirSync(target, { recursive: true })
    const { code, stderr } = await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', target])
    if (code !== 0) throw new Error(stderr)
  }

  link(name: string, folder: string): void {
    mkdirSync(join(this.folder, 'node_modules'), { recursive: true })
    symlinkSync(folder, join(this.folder, 'node_modules', name))
  }

  /** The last line of what the script prints. */
  async run(node: string, file: string, ...args: string[]): Promise<string> {
    const { stdout, stderr } = await run(node, [join(this.folder, file), ...args], { cwd: this.folder })
    return `${stdout}${stderr}`.trim().split('\n').at(-1)!
  }

  /** Compiles .mts and .cts files strictly. @returns errors, without those of the driver's types */
  async compile(): Promise<string[]> {
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023', 'esnext.disposable'],
      types: ['node'],
      typeRoots: [join(root, 'node_modules', '@types')],
      noEmit: true,
    }
    this.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.mts', '*.cts'] }))
    const { stdout } = await run(process.execPath, [
      join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      this.folder,
    ])
    return stdout.split('\n').filter((line) => /error/.test(line) && !/node_modules\/mongodb\d?\//.test(line))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
