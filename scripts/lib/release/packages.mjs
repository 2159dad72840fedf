/** The published packages: what is in them, and what their package.json says. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { capture, ScriptError } from '../processes.mjs'
import { root } from '../workspace.mjs'
import { writeCommands } from '../program/write-commands.mjs'
import { writeProgram } from '../program/write-program.mjs'
import { bundle } from './bundle.mjs'
import { noticesOf } from './notices.mjs'
import { writeTypes } from './types.mjs'
import { manifestOf, thirdPartyOf } from './workspaces.mjs'

/**
 * Stay dependencies: the driver and bson for their size and because applications have them; snappy
 * and piscina because they load files of their own; saslprep because it is loaded on demand;
 * eventemitter3 and zod because our types name theirs.
 */
export const shardlabDependencies = ['@mongodb-js/saslprep', 'bson', 'eventemitter3', 'mongodb', 'piscina', 'snappy']

export async function packShardlab(folder) {
  const stage = join(folder, 'shardlab')
  const dist = join(stage, 'dist')
  mkdirSync(dist, { recursive: true })
  const built = (path) => join(root, 'packages', path)
  const assets = await writeCommands({ outdir: dist, external: shardlabDependencies })
  mkdirSync(join(dist, 'library'))
  for (const file of readdirSync(join(root, 'test', 'scenarios')))
    if (file.endsWith('.yaml')) cpSync(join(root, 'test', 'scenarios', file), join(dist, 'library', file))
  cpSync(built('shardlab/bin'), join(stage, 'bin'), { recursive: true })
  for (const name of ['shardlab.js', 'servers/mongod', 'servers/mongos']) {
    const path = join(stage, 'bin', name)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replaceAll('/dist/bundle/', '/dist/'))
  }
  const manifest = manifestOf('shardlab')
  const versions = thirdPartyOf('shardlab')
  writeManifest(stage, manifest, {
    bin: manifest.bin,
    ...entryPoints('shardlab'),
    dependencies: Object.fromEntries(shardlabDependencies.map((name) => [name, versions[name]])),
  })
  await writeProgram({ outdir: dist, packageJson: '../package.json' })
  checkAssets(stage, assets)
  writeTypes('shardlab', stage)
  writeFileSync(join(stage, 'THIRD-PARTY-NOTICES'), noticesOf(Object.keys(versions), shardlabDependencies))
  return pack(stage, folder, { 'README.md': 'README.md', ...shardlabPages() })
}

export async function packUnique(folder) {
  const stage = join(folder, 'unique')
  const dist = join(stage, 'dist')
  mkdirSync(dist, { recursive: true })
  const manifest = manifestOf('unique')
  const entry = { index: join(root, 'packages', 'unique', 'dist', 'src', 'index.js') }
  const external = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]
  for (const format of ['esm', 'cjs']) await bundle({ format, outdir: dist, external, entryPoints: entry })
  writeManifest(stage, manifest, {
    ...entryPoints('unique'),
    dependencies: manifest.dependencies,
    peerDependencies: manifest.peerDependencies,
  })
  writeTypes('unique', stage)
  const guide = 'docs/guides/unique-fields.md'
  return pack(stage, folder, { 'packages/unique/README.md': 'README.md', [guide]: guide })
}

export async function packTesting(folder) {
  const stage = join(folder, 'testing')
  const dist = join(stage, 'dist')
  mkdirSync(dist, { recursive: true })
  const manifest = manifestOf('testing')
  const entry = { index: join(root, 'packages', 'testing', 'dist', 'src', 'index.js') }
  const renamed = { '@shardlab/cluster': 'shardlab' }
  const peers = { shardlab: manifestOf('shardlab').version, ...manifest.peerDependencies }
  for (const format of ['esm', 'cjs'])
    await bundle({ format, outdir: dist, external: Object.keys(peers), entryPoints: entry, renamed })
  const program = { broadcasts: join(root, 'packages', 'testing', 'dist', 'src', 'broadcasts', 'main.js') }
  await bundle({ format: 'esm', outdir: dist, external: Object.keys(peers), entryPoints: program, renamed })
  mkdirSync(join(stage, 'bin'))
  const bin = "#!/usr/bin/env node\nimport '../dist/broadcasts.js'\n"
  writeFileSync(join(stage, 'bin', 'shardlab-broadcasts.js'), bin, { mode: 0o755 })
  writeManifest(stage, manifest, { bin: manifest.bin, ...entryPoints('testing'), peerDependencies: peers })
  writeTypes('testing', stage, renamed)
  const guide = 'docs/guides/fixtures.md'
  return pack(stage, folder, { 'packages/testing/README.md': 'README.md', [guide]: guide })
}

const entryPoints = (name) => ({
  main: './dist/index.cjs',
  types: `./types/${name}/index.d.cts`,
  exports: {
    '.': {
      import: { types: `./types/${name}/index.d.ts`, default: './dist/index.js' },
      require: { types: `./types/${name}/index.d.cts`, default: './dist/index.cjs' },
    },
    './package.json': './package.json',
  },
})

function writeManifest(stage, { name, version, description, license, engines }, more) {
  const manifest = { name, version, description, license, type: 'module', engines, ...more }
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** @param {readonly string[]} assets relative to dist */
function checkAssets(stage, assets) {
  // A checkout has the scenarios in test/; the package has them in library/.
  const missing = assets.find((path) => path !== './scenarios' && !existsSync(join(stage, 'dist', path)))
  if (missing !== undefined) throw new ScriptError(`the bundle refers to ${missing}, which is not in the package`)
}

/** What users read: guides, reference and glossary. */
function shardlabPages() {
  const pagesOf = (folder) =>
    readdirSync(join(root, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${folder}/${file}`)
  const pages = ['docs/GLOSSARY.md', ...pagesOf('docs/guides'), ...pagesOf('docs/reference')]
  return Object.fromEntries(pages.map((page) => [page, page]))
}

/** @param {Readonly<Record<string, string>>} pages places in the package, by those in ours */
async function pack(stage, folder, pages) {
  for (const [from, to] of Object.entries(pages)) {
    mkdirSync(dirname(join(stage, to)), { recursive: true })
    writeFileSync(join(stage, to), packagedPage(from, pages))
  }
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'))
  const { code, output } = await capture(
    'npm',
    ['pack', '--silent', '--pack-destination', folder, '--loglevel=error'],
    {},
    stage,
  )
  if (code !== 0) throw new ScriptError(`npm pack failed: ${output}`)
  return join(folder, output.trim().split('\n').at(-1))
}

const codeOrLink = /```[^]*?```|`[^`\n]*`|\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g

/** Without pictures, and without links that would lead out of the package. */
function packagedPage(from, pages) {
  const folder = posix.dirname(pages[from])
  return readFileSync(join(root, from), 'utf8')
    .replace(/^!\[.*\n\n/gm, '')
    .replace(codeOrLink, (whole, text, target, anchor = '') => {
      if (text === undefined) return whole
      const to = pages[posix.join(posix.dirname(from), target)]
      return to === undefined ? text : `[${text}](${posix.relative(folder, to)}${anchor})`
    })
}
