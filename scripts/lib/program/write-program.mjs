/**
 * The program that starts fast: the API, `shardlab up`, the commands that connect to a cluster and
 * the stand-ins for the server, in one script with V8's code cache (docs/decisions/0032).
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { capture, ScriptError } from '../processes.mjs'
import { bundle } from '../release/bundle.mjs'
import { root } from '../workspace.mjs'

const here = new URL('.', import.meta.url)

/** Stay imports: the package that is published has them as dependencies. */
const external = ['@mongodb-js/saslprep', 'mongodb', 'piscina', 'snappy']

/** Each part is evaluated when it is asked for. */
const parts = `
exports.api = () => require('./index.js')
exports.up = () => require('./up-cli.js')
exports.connecting = () => require('./connecting-cli.js')
exports.server = () => require('./servers/server-main.js')
`

/**
 * @param outdir may have other files
 * @param packageJson path of the package's file, relative to the folder
 */
export async function writeProgram({ outdir: folder, packageJson }) {
  const outdir = resolve(folder)
  const built = (path) => join(root, 'packages', path)
  mkdirSync(outdir, { recursive: true })
  const common = { format: 'cjs', outdir, external, isMinified: true }
  await bundle({
    ...common,
    stdin: { contents: parts, resolveDir: built('shardlab/dist/src'), sourcefile: 'parts.js' },
    outfile: 'program.cjs',
    places: { 'package.json': packageJson, 'entry.js': './entry.cjs' },
  })
  await bundle({ ...common, entryPoints: { entry: built('cluster/dist/src/workers/entry.js') } })
  for (const name of ['member.worker.cjs', 'member.worker.cache'])
    cpSync(built(`cluster/dist/workers/${name}`), join(outdir, name))
  cpSync(built('dashboard/dist/page/dashboard.html'), join(outdir, 'dashboard.html'))
  await build({
    entryPoints: [fileURLToPath(new URL('load.cjs', here))],
    outfile: join(outdir, 'load.cjs'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: ['./program.cjs'],
    logLevel: 'warning',
  })
  cpSync(new URL('index.cjs', here), join(outdir, 'index.cjs'))
  const names = Object.keys(await import(pathToFileURL(built('shardlab/dist/src/index.js')).href)).sort()
  writeFileSync(
    join(outdir, 'index.js'),
    `import load from './load.cjs'\n\nexport const { ${names.join(', ')} } = load('api')\n`,
  )
  // In a process of its own, so that the cache has only what the program has compiled.
  const written = await capture(process.execPath, [fileURLToPath(new URL('write-cache.cjs', here)), outdir])
  if (written.code !== 0) throw new ScriptError(`the code cache could not be written: ${written.output}`)
}
